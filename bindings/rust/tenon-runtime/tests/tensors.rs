//! Tensors: creation, reading, printing, arithmetic, and errors.

use std::error::Error as _;

use tenon::{ops, tensor, Code, DType, Error, Result, Tensor, Variable, F16};

#[test]
fn literals_have_the_dtype_of_their_elements() -> Result<()> {
    assert_eq!(tensor![1., 2.]?.dtype(), DType::F32);
    assert_eq!(tensor![1, 2]?.dtype(), DType::I32);
    assert_eq!(tensor![f64; [1., 2.], [3., 4.]]?.dtype(), DType::F64);
    assert_eq!(tensor![[[1u8], [2]]]?.shape()?, [1, 2, 1]);
    assert_eq!(
        tensor![F16(0x3c00)]?.cast(DType::F32)?.to_vec::<f32>()?,
        [1.]
    );
    Ok(())
}

#[test]
fn operators_take_references_values_numbers_and_results() -> Result<()> {
    let (x, w) = (tensor![1., 2.]?, Variable::new(tensor![10., 20.])?);
    assert_eq!((&x + &x)?.to_vec::<f32>()?, [2., 4.]);
    assert_eq!((x.clone() * 3)?.to_vec::<f32>()?, [3., 6.]);
    assert_eq!((1.0 - &x)?.to_vec::<f32>()?, [0., -1.]);
    assert_eq!((&w + (&x * &w))?.to_vec::<f32>()?, [20., 60.]);
    assert_eq!((-&x)?.to_vec::<f32>()?, [-1., -2.]);
    assert_eq!((2 * &tensor![1, 2]?)?.dtype(), DType::I32);
    assert_eq!(ops::maximum(0, (-x)?)?.to_vec::<f32>()?, [0., 0.]);
    Ok(())
}

#[test]
fn op_builders_set_attributes() -> Result<()> {
    let x = tensor![[1., 2.], [3., 4.]]?;
    assert_eq!(
        x.sum_with().axes(&[1]).keepdims(true).run()?.shape()?,
        [2, 1]
    );
    assert_eq!(x.sum()?.item::<f64>()?, 10.);
    assert_eq!(
        x.matmul_with(&x).transpose_b(true).run()?.to_vec::<f32>()?,
        [5., 11., 11., 25.]
    );
    assert_eq!(ops::concat([&x, &x], 1)?.shape()?, [2, 4]);
    assert_eq!(x.split_with(2).axis(1).num_outputs(2).run()?.len(), 2);
    assert_eq!(x.top_k_with().k(1).run()?.indices.to_vec::<i64>()?, [1, 1]);
    Ok(())
}

#[test]
fn reading_as_a_different_element_type_is_an_error() -> Result<()> {
    let error = tensor![1., 2.]?.to_vec::<i32>().unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(
        error.message(),
        "to_vec: the elements are f32, not i32; use cast"
    );
    assert!(tensor![1., 2.]?.read_into(&mut [0f32; 3]).is_err());
    Ok(())
}

#[test]
fn vectors_are_imported_and_freed_once() -> Result<()> {
    let x = Tensor::from_vec((0..4096).map(|i| i as f32).collect(), &[64, 64])?;
    let row = x.select(0, 1)?;
    drop(x);
    assert_eq!(row.to_vec::<f32>()?[0], 64.);
    assert!(Tensor::from_vec(vec![1f32; 1], &[2]).is_err());
    Ok(())
}

#[test]
fn display_prints_as_numpy_does() -> Result<()> {
    let x = tensor![[1., 2.5], [-3., 4.]]?;
    assert_eq!(x.to_string(), "[[ 1.   2.5]\n [-3.   4. ]]");
    assert_eq!(format!("{:#}", tensor![1]?), "[1] : i32[1] on cpu:0");
    assert_eq!(format!("{:.2}", tensor![0.12345]?), "[0.12]");
    assert_eq!(format!("{x:?}"), "Tensor(f32[2, 2] on cpu:0)");
    Ok(())
}

#[test]
fn errors_have_code_op_and_source() -> Result<()> {
    let error = tensor![[1., 2.]]?.softmax(2).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(error.op(), Some("softmax"));
    assert!(error.message().contains("axis 2"), "{error}");
    assert!(error.source().is_none());
    let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(error);
    assert!(boxed.to_string().starts_with("softmax: "));
    assert_eq!(Error::new(Code::NotFound, "x").to_string(), "x");
    Ok(())
}

#[test]
fn errors_name_the_device() -> Result<()> {
    let limited = tenon::Context::new(&tenon::ContextOptions::new().memory_limit(1 << 16))?;
    let scope = tenon::Scope::new(&limited)?;
    let error = scope
        .run(|| Tensor::zeros(DType::F32, &[1 << 20]))
        .unwrap_err();
    assert_eq!(error.code(), Code::OutOfMemory);
    assert_eq!(error.device(), Some("cpu:0"), "{error:?}");
    Ok(())
}

#[test]
fn dlpack_shares_memory() -> Result<()> {
    let x = tensor![1., 2., 3.]?;
    let data = x.as_slice::<f32>()?.map(<[f32]>::as_ptr);
    let back = Tensor::from_dlpack(x.to_dlpack()?, false)?;
    assert_eq!(back.as_slice::<f32>()?.map(<[f32]>::as_ptr), data);
    let copied = Tensor::from_dlpack(x.to_dlpack()?, true)?;
    assert_ne!(copied.as_slice::<f32>()?.map(<[f32]>::as_ptr), data);
    Ok(())
}
