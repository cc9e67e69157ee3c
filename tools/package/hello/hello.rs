use tenon::tensor;

fn main() -> tenon::Result<()> {
    println!("{}", (tensor![1., 2.]? + tensor![10., 20.]?)?);
    Ok(())
}
