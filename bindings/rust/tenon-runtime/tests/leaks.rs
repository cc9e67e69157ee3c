//! Checks that a training step leaks nothing if a callback fails, whichever one it is.
//! bindings/rust/CMakeLists.txt also runs this test under LeakSanitizer, which reports leaks at
//! process exit.

use std::cell::Cell;
use std::panic::set_hook;

use tenon::{
    custom_gradient, host_call, tensor, while_loop, Backward, Code, Context, CustomGradient, Error,
    Function, Result, Tape, Tensor, Variable,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Panic,
    Error,
}

thread_local! {
    /// Number of callbacks that still succeed before one fails.
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Returns `x`, the output of an op. Fails instead if this is the callback that must fail.
fn pass(fault: Fault, x: Result<Tensor>) -> Result<Tensor> {
    let left = LEFT.with(Cell::get);
    LEFT.with(|cell| cell.set(left.wrapping_sub(1)));
    if left != 0 {
        return x;
    }
    assert!(fault != Fault::Panic, "ordered");
    Err(Error::new(Code::Cancelled, "ordered"))
}

struct Scaled(Fault);

impl CustomGradient for Scaled {
    fn forward(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![pass(self.0, inputs[0].identity())?])
    }

    fn backward(&self, call: &Backward) -> Result<Vec<Option<Tensor>>> {
        Ok(vec![Some(pass(self.0, call.cotangents[0].mul(2))?)])
    }
}

/// A training step in which every op runs in a callback or passes its output to `pass`.
fn step(fault: Fault, w: &Variable, x: &Tensor) -> Result<Tensor> {
    let tape = Tape::new()?;
    let y = pass(fault, w * x)?;
    let y = host_call(&y, &y, move |y: Tensor| pass(fault, y.square()))?;
    let looped = while_loop(
        (x.clone(), 0.),
        move |(_, i): (Tensor, Tensor)| pass(fault, i.less(2.)),
        move |(x, i)| Ok((pass(fault, x.tanh())?, pass(fault, i + 1.)?)),
    )?;
    let total = pass(fault, (y + &looped.0)?.sum())?;
    let loss = &custom_gradient(Scaled(fault), [&total])?[0];
    let dw = pass(fault, tape.gradient(loss, w))?;
    w.assign(pass(fault, tenon::ops::sgd(w, dw, 0.01))?)?;
    Ok(total)
}

/// Runs the step eagerly and in a function, once for each callback that can fail. Returns how many
/// callbacks failed.
fn fail_everywhere(fault: Fault, x: &Tensor) -> Result<usize> {
    let w = Variable::new(tensor![0.1, 0.2, 0.3])?;
    let mut failed = 0;
    for traced in [false, true] {
        for at in 0.. {
            let (of_body, x) = (w.clone(), x.clone());
            let function = Function::new(move |x: Tensor| step(fault, &of_body, &x));
            LEFT.with(|left| left.set(at));
            let outcome = if traced {
                function.call(&x).map(drop)
            } else {
                std::panic::catch_unwind(|| step(fault, &w, &x).map(drop))
                    .unwrap_or_else(|_| Err(Error::new(Code::Internal, "ordered")))
            };
            let left = LEFT.with(|left| left.replace(usize::MAX));
            match outcome {
                Ok(()) => {
                    assert!(left <= at, "no callback of {at} failed");
                    break;
                }
                Err(error) => assert!(error.message().contains("ordered"), "{error}"),
            }
            failed += 1;
        }
    }
    Ok(failed)
}

#[test]
fn a_callback_that_fails_at_any_op_leaks_nothing() -> Result<()> {
    set_hook(Box::new(|_| ()));
    let device = Context::shared()?.device("cpu")?;
    let x = tensor![1., 2., 3.]?;
    fail_everywhere(Fault::Error, &x)?;
    let live = device.memory()?.live_buffers;
    for fault in [Fault::Error, Fault::Panic] {
        let failed = fail_everywhere(fault, &x)?;
        assert!(failed >= 20, "{failed} callbacks failed");
        assert_eq!(device.memory()?.live_buffers, live, "{fault:?}");
    }
    Ok(())
}

#[test]
#[ignore = "leaks, to show that the run under LeakSanitizer reports it"]
fn deliberate_leak_is_reported() -> Result<()> {
    std::mem::forget(std::hint::black_box(tensor![1., 2., 3.]?.square()?));
    Ok(())
}
