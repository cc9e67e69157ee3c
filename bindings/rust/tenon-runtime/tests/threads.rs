//! Scopes, threads and futures.

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context as Task, Poll};
use std::thread;

use tenon::{
    tensor, Context, Error, Function, Generator, Profiler, Result, Scope, Tape, Tensor, Variable,
};

/// Fits `y = w x` and returns the bits of the losses, which must not depend on the thread.
fn train() -> Result<Vec<u32>> {
    let generator = Generator::new(3)?;
    let w = Variable::new(generator.normal(&[8, 8], 0., 1.))?;
    let (x, y) = (
        generator.normal(&[32, 8], 0., 1.)?,
        generator.normal(&[32, 8], 0., 1.)?,
    );
    let step = {
        let w = w.clone();
        move |x: &Tensor, y: &Tensor| {
            let tape = Tape::new()?;
            let loss = (x.matmul(&w)? - y)?.square()?.mean()?;
            w.assign(tenon::ops::sgd(&w, tape.gradient(&loss, &w)?, 0.1)?)?;
            Ok(loss)
        }
    };
    let traced = {
        let step = step.clone();
        Function::new(move |(x, y): (Tensor, Tensor)| step(&x, &y))
    };
    let mut bits = Vec::new();
    for index in 0..40 {
        let loss = if index < 20 {
            step(&x, &y)
        } else {
            traced.call((&x, &y))
        }?;
        bits.push(loss.item::<f32>()?.to_bits());
    }
    Ok(bits)
}

#[test]
fn sixteen_threads_compute_the_same_losses_as_one() -> Result<()> {
    let alone = train()?;
    let threads: Vec<_> = (0..16).map(|_| thread::spawn(train)).collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap()?, alone);
    }
    Ok(())
}

#[test]
fn threads_share_tensors_variables_and_functions() -> Result<()> {
    let double = Function::new(|x: Tensor| x * 2);
    let x = tensor![1., 2.]?;
    thread::scope(|all| {
        for _ in 0..8 {
            all.spawn(|| {
                for _ in 0..100 {
                    assert_eq!(double.call(&x).unwrap().to_vec::<f32>().unwrap(), [2., 4.]);
                }
            });
        }
    });
    Ok(())
}

#[test]
fn entering_a_scope_with_a_tape_of_another_thread_panics() -> Result<()> {
    let scope = Scope::new(Context::shared()?)?;
    let tape = scope.run(Tape::new)?;
    let entered = thread::spawn(move || {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scope.run(|| ()))).is_ok()
    });
    assert!(!entered.join().unwrap());
    drop(tape);
    Ok(())
}

/// A future whose first poll returns `Pending`, so that another thread can poll the task next.
struct Yield(bool);
impl Future for Yield {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    }
}

fn assert_send<T: Send>(value: T) -> T {
    value
}

struct Nothing;
impl std::task::Wake for Nothing {
    fn wake(self: std::sync::Arc<Self>) {}
}

#[test]
fn attached_tasks_keep_their_scope_when_they_move_between_threads() -> Result<()> {
    let scope = Scope::on(Context::shared()?, "cpu")?;
    scope.set_location("task.rs:7")?;
    let task = assert_send(scope.attach(async {
        let mut x = tensor![1., 2.]?;
        for _ in 0..4 {
            x = (x * 2)?;
            Yield(false).await;
        }
        // The error has the scope's location, so each poll ran in the scope.
        let error = tensor![1]?.sqrt().unwrap_err();
        assert_eq!(error.location(), Some("task.rs:7"));
        let read = x.read_async::<f32>()?.await?;
        Ok::<_, Error>(read)
    }));
    let mut task = Box::pin(task);
    let outside = Scope::with_current(|scope| scope.device())?
        .name()
        .to_owned();
    for _ in 0..10_000 {
        let (back, received) = mpsc::channel();
        thread::spawn(move || {
            let waker = std::sync::Arc::new(Nothing).into();
            let polled = task.as_mut().poll(&mut Task::from_waker(&waker));
            back.send((task, polled)).unwrap();
        });
        let (returned, polled) = received.recv().unwrap();
        task = returned;
        if let Poll::Ready(elements) = polled {
            assert_eq!(elements?, [16., 32.]);
            assert_eq!(Scope::with_current(|scope| scope.device())?.name(), outside);
            return Ok(());
        }
    }
    panic!("the task does not end");
}

#[test]
fn a_profiler_records_the_calls_of_all_threads() -> Result<()> {
    let context = Context::new(&tenon::ContextOptions::new())?;
    let profiler = Profiler::start_in(&context, 1000)?;
    let scope = Scope::new(&context)?;
    thread::spawn(move || scope.run(|| tensor![1.]?.exp().map(drop)))
        .join()
        .unwrap()?;
    profiler.stop()?;
    assert!(profiler
        .rows()?
        .iter()
        .any(|row| row.name == "exp" && row.count == 1));
    Ok(())
}
