//! ndarray arrays. This program depends on ndarray; the binding does not.

#[test]
fn arrays_are_converted_in_both_directions() -> tenon::Result<()> {
    let array = ndarray::array![[1f32, 2., 3.], [4., 5., 6.]];
    let x = tenon::from_ndarray!(array.t())?;
    assert_eq!(x.shape()?, [3, 2]);
    assert_eq!(x.to_vec::<f32>()?, [1., 4., 2., 5., 3., 6.]);
    let back = tenon::to_ndarray!(x, f32)?;
    assert_eq!(back, array.t().into_dyn());
    assert!(tenon::to_ndarray!(x, i32).is_err());
    Ok(())
}
