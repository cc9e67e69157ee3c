//! The C workloads of `benches/bindings/calls.h`, linked into the benchmark process.

use std::time::Duration;

macro_rules! calls {
    ($($name:ident = $function:ident;)*) => {
        #[link(name = "bench_calls")]
        extern "C" {
            $(fn $function(repetitions: i64) -> i64;)*
        }
        $(
            /// Repeats the workload in C and returns the elapsed time.
            pub fn $name(repetitions: u64) -> Duration {
                // SAFETY: any thread may call the function; only one thread runs here.
                let nanoseconds = unsafe { $function(repetitions as i64) };
                Duration::from_nanos(nanoseconds as u64)
            }
        )*
    };
}

calls! {
    eager_add = bench_c_eager_add;
    recorded_add = bench_c_recorded_add;
    function_call = bench_c_function_call;
    training_step = bench_c_training_step;
}
