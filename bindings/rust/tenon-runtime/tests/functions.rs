//! Tapes, functions, control flow, and errors of callbacks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use tenon::{
    cond, custom_gradient, grad, gradients, scan, tensor, while_loop, Backward, Code, Context,
    CustomGradient, CustomOp, DType, Function, FunctionOptions, InputSpec, List, Result, Scope,
    Static, Tape, Tensor, TensorType, Variable,
};

fn number(x: f32) -> Tensor {
    x.into()
}

#[test]
fn nested_tapes_compute_second_derivatives() -> Result<()> {
    let x = tensor![2.]?;
    let outer = Tape::new()?;
    outer.watch(&x)?;
    let dx = {
        let inner = Tape::new()?;
        inner.watch(&x)?;
        let y = ((&x * &x)? * &x)?;
        inner.gradient(&y, &x)?
    };
    assert_eq!(dx.item::<f32>()?, 12.);
    assert_eq!(outer.gradient(&dx, &x)?.item::<f32>()?, 12.);
    Ok(())
}

#[test]
fn functions_take_tuples_and_vectors() -> Result<()> {
    let pair = Function::new(|(x, y): (Tensor, Tensor)| Ok(((&x + &y)?, (x - y)?)));
    let (sum, difference) = pair.call((5., 3.))?;
    assert_eq!((sum.item::<f32>()?, difference.item::<f32>()?), (8., 2.));
    let reverse = Function::new(|mut xs: Vec<Tensor>| {
        xs.reverse();
        Ok(xs)
    });
    let out = reverse.call([&tensor![1.]?, &tensor![2.]?])?;
    assert_eq!(out[0].item::<f32>()?, 2.);
    assert_eq!(pair.count_traces(), 1);
    Ok(())
}

#[test]
fn one_trace_serves_indexing_at_every_size() -> Result<()> {
    let any_size = InputSpec::new(DType::F32, &[None]);
    let last = FunctionOptions::new()
        .signature(&[any_size])
        .create(|x: Tensor| {
            // x.size(0) is unknown while tracing and cannot be read. Formatting x reads no size.
            assert_eq!(x.size(0).unwrap_err().code(), Code::FailedPrecondition);
            assert_eq!(x.shape().unwrap_err().code(), Code::FailedPrecondition);
            assert_eq!(format!("{x:?}"), "Tensor(f32 of rank 1 on cpu:0)");
            x.select(0, -1)
        })?;
    assert_eq!(last.call(&tensor![1., 2.]?)?.item::<f32>()?, 2.);
    assert_eq!(last.call(&tensor![1., 2., 3.]?)?.item::<f32>()?, 3.);
    assert_eq!(last.count_traces(), 1);
    Ok(())
}

#[test]
fn a_training_step_can_be_traced() -> Result<()> {
    let w = Variable::new(tensor![0.])?;
    let step = {
        let w = w.clone();
        Function::new(move |(x, y): (Tensor, Tensor)| {
            let tape = Tape::new()?;
            let loss = ((&w * x)? - y)?.square()?.mean()?;
            let dw = tape.gradient(&loss, &w)?;
            w.assign(tenon::ops::sgd(&w, dw, 0.1)?)?;
            Ok(loss)
        })
    };
    let mut last = f32::MAX;
    for _ in 0..20 {
        let loss = step
            .call((&tensor![1., 2.]?, &tensor![3., 6.]?))?
            .item::<f32>()?;
        assert!(loss < last);
        last = loss;
    }
    assert!((w.read()?.item::<f32>()? - 3.).abs() < 0.01);
    Ok(())
}

#[test]
fn control_flow_has_the_same_results_eager_and_traced() -> Result<()> {
    fn collatz(n: Tensor) -> Result<Tensor> {
        let (steps, _): (Tensor, Tensor) = while_loop(
            (0i64, n),
            |(_, n): (Tensor, Tensor)| n.not_equal(1),
            |(steps, n)| {
                let next = cond((&n % 2)?.equal(0)?, || &n / 2, || (&n * 3)? + 1)?;
                Ok(((steps + 1)?, next.cast(tenon::DType::I64)?))
            },
        )?;
        Ok(steps)
    }
    let eager = collatz(Tensor::from(7i64))?.item::<i64>()?;
    assert_eq!(eager, 16);
    let traced = Function::new(collatz).call(7i64)?.item::<i64>()?;
    assert_eq!(traced, eager);
    Ok(())
}

#[test]
fn scan_carries_values_and_stacks_outputs() -> Result<()> {
    let (last, all) = scan(1., &tensor![2., 3., 4.]?, |p: Tensor, x: Tensor| {
        let p = (p * x)?;
        Ok((p.clone(), p))
    })?;
    assert_eq!(last.item::<f32>()?, 24.);
    assert_eq!(all.to_vec::<f32>()?, [2., 6., 24.]);
    Ok(())
}

#[test]
fn functions_take_and_return_lists() -> Result<()> {
    let gather = Function::new(|list: List| list.push(tensor![9.])?.stack());
    let list = List::like(tensor![0.], 0)?.push(tensor![1.])?;
    assert_eq!(gather.call(&list)?.to_vec::<f32>()?, [1., 9.]);
    Ok(())
}

struct Clip;
impl CustomGradient for Clip {
    fn forward(&self, x: &[Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![x[0].identity()?])
    }
    fn backward(&self, call: &Backward) -> Result<Vec<Option<Tensor>>> {
        Ok(vec![Some(call.cotangents[0].clip(-1, 1)?)])
    }
}

#[test]
fn custom_gradients_run_eager_and_traced() -> Result<()> {
    let clipped = |x: &Tensor| (custom_gradient(Clip, x)?.remove(0) * 5)?.square();
    assert_eq!(grad(clipped)(&number(2.))?.item::<f32>()?, 1.);
    let f = Function::new(move |x: Tensor| clipped(&x));
    let traced = f.gradient::<Tensor>()?.call(&tensor![2.]?)?;
    assert_eq!(traced.item::<f32>()?, 1.);
    Ok(())
}

#[test]
fn panics_in_callbacks_become_errors() -> Result<()> {
    let f = Function::new(|_: Tensor| -> Result<Tensor> { panic!("seven {}", 7) });
    let error = f.call(&tensor![1.]?).unwrap_err();
    assert_eq!(error.code(), Code::Internal);
    assert!(
        error.message().contains("a callback panicked: seven 7"),
        "{error}"
    );

    let error = cond(
        true,
        || -> Result<Tensor> { panic!("then") },
        || tensor![1.],
    )
    .unwrap_err();
    assert!(error.message().contains("then"), "{error}");

    let error = gradients(1., |_: Tensor| -> Result<Tensor> { panic!("inside") }).unwrap_err();
    assert!(error.message().contains("inside"), "{error}");
    assert_eq!(tensor![1.]?.sum()?.item::<f32>()?, 1.);
    Ok(())
}

struct Bad(Arc<AtomicUsize>);
impl Drop for Bad {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
impl CustomOp for Bad {
    const INPUTS: usize = 1;
    fn infer(&self, _: &[TensorType]) -> Result<Vec<TensorType>> {
        panic!("no types")
    }
}

#[test]
fn custom_ops_are_dropped_once_on_success_and_failure() -> Result<()> {
    let dropped = Arc::new(AtomicUsize::new(0));
    {
        let context = Context::new(&tenon::ContextOptions::new())?;
        let op = context.register("bad", Bad(dropped.clone()))?;
        let error = Scope::new(&context)?
            .run(|| op.call::<Tensor>(&tensor![1.]?))
            .unwrap_err();
        assert!(error.message().contains("no types"), "{error}");
        assert!(context.register("bad", Bad(dropped.clone())).is_err());
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
    }
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
    Ok(())
}

#[test]
fn each_static_argument_has_its_own_trace() -> Result<()> {
    let f = tenon::FunctionOptions::new()
        .default_static("by", 2)
        .create_with_statics(|x: Tensor, statics: &tenon::Statics| match &statics["by"] {
            Static::Int(by) => x * *by,
            Static::List(all) => x * all.len() as i64,
            other => Err(tenon::Error::new(
                Code::InvalidArgument,
                format!("{other:?}"),
            )),
        })?;
    let x = tensor![1.]?;
    assert_eq!(f.call(&x)?.item::<f32>()?, 2.);
    let list = Static::List(vec![
        Static::Int(1),
        Static::List(vec![Static::Bool(true)]),
        3.into(),
    ]);
    let by_list = tenon::Statics::from([("by".to_owned(), list)]);
    assert_eq!(f.call_with(&x, &by_list)?.item::<f32>()?, 3.);
    assert_eq!(f.count_traces(), 2);
    assert!(f
        .call_with(&x, &tenon::Statics::from([("by".to_owned(), "a".into())]))
        .is_err());
    Ok(())
}
