//! docs/languages.md: twenty tasks in Rust. docs/snippets/languages.c has the same tasks in C. The
//! code of a task stands between the comments [its name] and [end].

use tenon::{
    cond, host_call, tensor, while_loop, Context, ContextOptions, Function, Generator, Result,
    Safetensors, SafetensorsWriter, Scope, Tape, Tensor, Variable,
};

fn values_and_ops() -> Result<Tensor> {
    // [make]
    let x = tensor![[1., 2.], [3., 4.]]?;
    // [end]

    // [arithmetic]
    let y = ((2. * &x)? + &x)?;
    // [end]
    assert_eq!(y.to_vec::<f32>()?, [3., 6., 9., 12.]);

    // [attributes]
    let rows = x.sum_with().axes(&[1]).keepdims(true).run()?;
    // [end]
    assert_eq!(rows.to_vec::<f32>()?, [3., 7.]);

    // [outputs]
    let top = x.top_k_with().k(1).run()?;
    let (values, indices) = (top.values, top.indices);
    // [end]
    assert_eq!(values.to_vec::<f32>()?, [2., 4.]);
    assert_eq!(indices.to_vec::<i64>()?, [1, 1]);

    // [index]
    let last_row = x.narrow(0, 1..2)?;
    // [end]
    assert_eq!(last_row.to_vec::<f32>()?, [3., 4.]);
    Ok(x)
}

fn reading(x: &Tensor) -> Result<()> {
    // [shape]
    let shape = x.shape()?;
    // [end]
    assert_eq!(shape, [2, 2]);

    // [item]
    let number: f32 = x.sum()?.item()?;
    // [end]
    assert_eq!(number, 10.);

    // [read]
    let host = x.to_vec::<f32>()?;
    // [end]
    assert_eq!(host[3], 4.);

    // [print]
    println!("{x}");
    // [end]
    assert_eq!(x.to_string(), "[[1. 2.]\n [3. 4.]]");

    // [device]
    let there = x.to_device("cpu")?;
    // [end]
    assert_eq!(there.device(), Some("cpu:0"));

    // [random]
    let generator = Generator::new(7)?;
    let noise = generator.normal(&[2, 2], 0., 1.)?;
    // [end]
    assert_eq!(noise.shape()?, [2, 2]);

    // [error]
    if let Err(error) = x.softmax(5) {
        println!("{error}");
    }
    // [end]
    assert_eq!(
        x.softmax(5).unwrap_err().message(),
        "softmax: C2: axis 5 is outside [-2, 2) for x: f32[2,2]"
    );
    Ok(())
}

fn training(x: &Tensor) -> Result<()> {
    // [variable]
    let w = Variable::new(x)?;
    w.assign(w.read()?)?;
    // [end]

    // [gradient]
    let tape = Tape::new()?;
    let loss = w.read()?.square()?.sum()?;
    let gradient = tape.gradient(&loss, &w)?;
    // [end]
    assert_eq!(gradient.to_vec::<f32>()?, [2., 4., 6., 8.]);
    Ok(())
}

fn functions(x: &Tensor) -> Result<()> {
    // [function]
    let scaled = Function::new(|(a, b): (Tensor, Tensor)| a * b);
    let product = scaled.call((x, x))?;
    // [end]
    assert_eq!(product.to_vec::<f32>()?, [1., 4., 9., 16.]);

    let start = tensor![3.]?;

    // [cond]
    let chosen: Tensor = cond(start.greater(0.)?.all()?, || -&start, || Ok(start.clone()))?;
    // [end]
    assert_eq!(chosen.item::<f32>()?, -3.);

    // [while_loop]
    let last = while_loop(3.0, |x: Tensor| x.less(100.), |x| &x + &x)?;
    // [end]
    assert_eq!(last.item::<f32>()?, 192.);

    // [host_call]
    let printed = host_call(&last, &last, |x: Tensor| {
        println!("host: {}", x.item::<f64>()?);
        Ok(x)
    })?;
    // [end]
    assert_eq!(printed.item::<f32>()?, 192.);
    Ok(())
}

fn files(x: &Tensor) -> Result<()> {
    let path = std::env::temp_dir().join(format!("languages-{}.safetensors", std::process::id()));
    let path = path.to_str().expect("a path of ASCII");
    // [safetensors]
    SafetensorsWriter::new().tensor("x", x)?.save(path)?;
    let loaded = Safetensors::open(path)?.load("x")?;
    // [end]
    assert_eq!(loaded.to_vec::<f32>()?, [1., 2., 3., 4.]);
    std::fs::remove_file(path).expect("the file was written");
    Ok(())
}

#[test]
fn tasks_of_the_languages_page_run() -> Result<()> {
    // [context]
    let scope = Scope::new(&Context::new(&ContextOptions::new())?)?;
    // [end]
    scope.run(|| {
        let x = values_and_ops()?;
        reading(&x)?;
        training(&x)?;
        functions(&x)?;
        files(&x)
    })
}
