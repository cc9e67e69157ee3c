//! Resident memory must not grow. There is only one test, so that no other thread allocates
//! meanwhile.

use tenon::{tensor, Context, Function, Result, Tape, Tensor, Variable};

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: usize = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// Runs `work` ten times. Returns the growth of resident memory in bytes after the first two runs.
fn growth(mut work: impl FnMut() -> Result<()>) -> Result<usize> {
    work()?;
    work()?;
    let before = resident_bytes();
    for _ in 0..8 {
        work()?;
    }
    Ok(resident_bytes().saturating_sub(before))
}

/// Runs a training step that panics between two operations: in the call number `fails_at`, counted
/// from 1, of its closure `here`.
fn step(w: &Variable, x: &Tensor, fails_at: usize) -> Result<Tensor> {
    let mut calls = 0;
    let mut here = || {
        calls += 1;
        assert!(calls != fails_at, "call {fails_at}");
    };
    here();
    let tape = Tape::new()?;
    here();
    let y = (w * x)?;
    here();
    let y = y.tanh()?;
    here();
    let loss = y.square()?.sum()?;
    here();
    let dw = tape.gradient(&loss, w)?;
    here();
    w.assign(tenon::ops::sgd(w, dw, 0.01)?)?;
    here();
    Ok(loss)
}

#[test]
fn resident_memory_does_not_grow() -> Result<()> {
    const MARGIN: usize = 2 << 20;
    let device = Context::shared()?.device("cpu")?;
    let x = tensor![1., 2., 3.]?;
    let grown = growth(|| {
        for _ in 0..100_000 {
            (&x + &x)?;
        }
        Ok(())
    })?;
    assert!(grown < MARGIN, "a million adds left {grown} bytes");

    let w = Variable::new(tensor![0.1, 0.2, 0.3])?;
    let traced = {
        let (w, x) = (w.clone(), x.clone());
        Function::new(move |_: ()| step(&w, &x, 0))
    };
    let grown = growth(|| {
        for _ in 0..500 {
            step(&w, &x, 0)?;
            traced.call(())?;
        }
        Ok(())
    })?;
    assert!(grown < MARGIN, "10,000 training steps left {grown} bytes");
    drop(traced);

    // Do not print the messages of the 7,000 expected panics.
    std::panic::set_hook(Box::new(|_| ()));
    let live = device.memory()?.live_buffers;
    let grown = growth(|| {
        for fails_at in (1..=7).cycle().take(700) {
            let (w, x) = (w.clone(), x.clone());
            let error = Function::new(move |_: ()| step(&w, &x, fails_at))
                .call(())
                .unwrap_err();
            assert!(error.message().contains("a callback panicked"), "{error}");
        }
        Ok(())
    })?;
    assert!(grown < MARGIN, "panics left {grown} bytes");
    assert_eq!(device.memory()?.live_buffers, live);
    Ok(())
}
