//! Measures the workloads of benches/bindings/calls.h in Rust and in C, alternately.
//! `./dev bench bindings` runs it. Prints one line per workload, with the medians of the times, of
//! their differences and of the ratios C / Rust:
//!
//!     pair WORK rust C_NANOSECONDS RUST_NANOSECONDS DIFFERENCE RATIO

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{criterion_group, criterion_main, Criterion};
use tenon::{tensor, Context, ContextOptions, Function, Result, Scope, Tape, Tensor, Variable};

const ROWS: i64 = 64;
const FEATURES: i64 = 784;
const HIDDEN: i64 = 128;
const CLASSES: i64 = 10;
/// Number of calls in one measurement; also the number of adds recorded before the tape is reset.
const BATCH: u64 = 100;
/// Number of training steps in one measurement. At the first step, the CPU caches still
/// hold the weights of the preceding C run.
const STEPS: u64 = 10;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Measures a workload in Rust and in C alternately. Reports the times in Rust to criterion.
fn pair(
    criterion: &mut Criterion,
    name: &str,
    batch: u64,
    in_c: fn(u64) -> Duration,
    mut work: impl FnMut(),
) {
    let mut times = [vec![], vec![], vec![], vec![]];
    in_c(batch); // Warms up, so that tracing and other one-time work is not measured.
    work();
    criterion.bench_function(name, |b| {
        b.iter_custom(|batches| {
            let mut total = Duration::ZERO;
            for _ in 0..batches {
                let start = Instant::now();
                work();
                let rust = start.elapsed();
                total += rust;
                let per_call = |time: Duration| time.as_nanos() as f64 / batch as f64;
                let (c, rust) = (per_call(in_c(batch)), per_call(rust));
                for (values, value) in times.iter_mut().zip([c, rust, rust - c, c / rust]) {
                    values.push(value);
                }
            }
            total
        })
    });
    let [c, rust, difference, ratio] = times.map(median);
    println!("pair {name} rust {c:.2} {rust:.2} {difference:.2} {ratio:.4}");
}

fn adds(x: &Tensor, y: &Tensor) {
    for _ in 0..BATCH {
        black_box((black_box(x) + y).unwrap());
    }
}

fn filled(rows: i64, columns: i64) -> Result<Tensor> {
    let elements: Vec<f32> = (0..rows * columns)
        .map(|i| (i % 7) as f32 * 0.01 - 0.03)
        .collect();
    Tensor::from_slice(&elements, &[rows, columns])
}

fn train(weights: &[Variable; 2], x: &Tensor, labels: &Tensor, rate: &Tensor) -> Result<()> {
    let tape = Tape::new()?;
    let logits = x.matmul(&weights[0])?.relu()?.matmul(&weights[1])?;
    let loss = logits
        .sparse_softmax_cross_entropy(labels, tenon::ops::Reduction::Mean)?
        .loss;
    let gradients = tape.gradients(&loss, weights)?;
    for (weight, gradient) in weights.iter().zip(&gradients) {
        weight.assign(tenon::ops::sgd(weight, gradient, rate))?;
    }
    Ok(())
}

fn calls(criterion: &mut Criterion) -> Result<()> {
    let (x, y) = (tensor![1.]?, tensor![2.]?);
    pair(
        criterion,
        "eager_add",
        BATCH,
        tenon_bench::eager_add,
        || adds(&x, &y),
    );

    let add = Function::new(|(x, y): (Tensor, Tensor)| x + y);
    pair(
        criterion,
        "function_call",
        BATCH,
        tenon_bench::function_call,
        || {
            for _ in 0..BATCH {
                black_box(add.call((&x, &y)).unwrap());
            }
        },
    );

    let weights = [
        Variable::new(filled(FEATURES, HIDDEN)?)?,
        Variable::new(filled(HIDDEN, CLASSES)?)?,
    ];
    let features = filled(ROWS, FEATURES)?;
    let rate = Tensor::from_slice(&[0.01f32], &[])?;
    let classes: Vec<i32> = (0..ROWS as i32).map(|i| i % CLASSES as i32).collect();
    let labels = Tensor::from_slice(&classes, &[ROWS])?;
    pair(
        criterion,
        "training_step",
        STEPS,
        tenon_bench::training_step,
        || {
            for _ in 0..STEPS {
                train(&weights, &features, &labels, &rate).unwrap();
            }
        },
    );

    let tape = Tape::new()?;
    pair(
        criterion,
        "recorded_add",
        BATCH,
        tenon_bench::recorded_add,
        || {
            tape.watch(&x).unwrap();
            adds(&x, &y);
            tape.reset().unwrap();
        },
    );
    Ok(())
}

fn all(criterion: &mut Criterion) {
    let context = Context::new(&ContextOptions::new().threads(1)).unwrap();
    let scope = Scope::new(&context).unwrap();
    scope.run(|| calls(criterion)).unwrap();
}

criterion_group!(benches, all);
criterion_main!(benches);
