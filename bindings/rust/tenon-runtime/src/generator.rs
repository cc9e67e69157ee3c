//! Random numbers: the same seed gives the same bits on every device.

use std::ptr;

use tenon_sys as sys;

use crate::dtype::DType;
use crate::error::{check, Result};
use crate::operand::Operand;
use crate::scope::current;
use crate::tensor::Tensor;

shared_handle! {
    /// A random number generator with a state. Clones share the state.
    ///
    /// ```
    /// use tenon::Generator;
    ///
    /// let (a, b) = (Generator::new(7)?, Generator::new(7)?);
    /// let (x, y) = (a.normal(&[3], 0., 1.)?, b.normal(&[3], 0., 1.)?);
    /// assert_eq!(x.to_vec::<f32>()?, y.to_vec::<f32>()?);
    /// # tenon::Result::Ok(())
    /// ```
    Generator, tenon_generator, tenon_generator_retain, tenon_generator_release
}

impl Generator {
    /// Creates a generator whose state is on the current device.
    ///
    /// ```
    /// let generator = tenon::Generator::new(1)?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn new(seed: u64) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the scope belongs to this thread.
        unsafe {
            check(sys::tenon_generator_create(current()?, seed, &mut raw))?;
            Ok(Self::adopt(raw))
        }
    }

    /// Resets the state to that of a new generator with this seed.
    ///
    /// ```
    /// tenon::Generator::new(1)?.seed(2)?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn seed(&self, seed: u64) -> Result<()> {
        // SAFETY: the generator is live.
        unsafe { check(sys::tenon_generator_seed(current()?, self.raw(), seed)) }
    }

    /// Returns the state, a u32 tensor with 6 elements. Save it to resume from here.
    ///
    /// ```
    /// assert_eq!(tenon::Generator::new(1)?.state()?.shape()?, [6]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn state(&self) -> Result<Tensor> {
        let mut raw = ptr::null_mut();
        // SAFETY: the generator is live.
        unsafe {
            check(sys::tenon_generator_read(current()?, self.raw(), &mut raw))?;
            Ok(Tensor::adopt(raw))
        }
    }

    /// Restores a state that [`Generator::state`] returned.
    ///
    /// ```
    /// let generator = tenon::Generator::new(1)?;
    /// let state = generator.state()?;
    /// generator.set_state(&state)?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn set_state(&self, state: &Tensor) -> Result<()> {
        // SAFETY: the generator and the tensor are live.
        unsafe {
            check(sys::tenon_generator_assign(
                current()?,
                self.raw(),
                state.raw(),
            ))
        }
    }

    /// Draws f32 numbers, uniformly distributed on `[low, high)`.
    ///
    /// ```
    /// let x = tenon::Generator::new(1)?.uniform(&[2, 3], 0., 1.)?;
    /// # assert_eq!(x.shape()?, [2, 3]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn uniform(&self, shape: &[i64], low: f64, high: f64) -> Result<Tensor> {
        self.uniform_of(DType::F32, shape, low, high)
    }

    /// Draws numbers of a floating dtype, uniformly distributed on `[low, high)`.
    ///
    /// ```
    /// let x = tenon::Generator::new(1)?.uniform_of(tenon::DType::F64, &[2], 0., 1.)?;
    /// # assert_eq!(x.dtype(), tenon::DType::F64);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn uniform_of(&self, dtype: DType, shape: &[i64], low: f64, high: f64) -> Result<Tensor> {
        let mut raw = ptr::null_mut();
        // SAFETY: the shape outlives the call.
        unsafe {
            check(sys::tenon_generator_uniform(
                current()?,
                self.raw(),
                dtype.to_c(),
                shape.as_ptr(),
                shape.len(),
                low,
                high,
                &mut raw,
            ))?;
            Ok(Tensor::adopt(raw))
        }
    }

    /// Draws normally distributed f32 numbers.
    ///
    /// ```
    /// let x = tenon::Generator::new(1)?.normal(&[2, 3], 0., 0.1)?;
    /// # assert_eq!(x.shape()?, [2, 3]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn normal(&self, shape: &[i64], mean: f64, deviation: f64) -> Result<Tensor> {
        self.normal_of(DType::F32, shape, mean, deviation)
    }

    /// Draws normally distributed numbers of a floating dtype.
    ///
    /// ```
    /// let x = tenon::Generator::new(1)?.normal_of(tenon::DType::F64, &[2], 0., 1.)?;
    /// # assert_eq!(x.dtype(), tenon::DType::F64);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn normal_of(
        &self,
        dtype: DType,
        shape: &[i64],
        mean: f64,
        deviation: f64,
    ) -> Result<Tensor> {
        let mut raw = ptr::null_mut();
        // SAFETY: the shape outlives the call.
        unsafe {
            check(sys::tenon_generator_normal(
                current()?,
                self.raw(),
                dtype.to_c(),
                shape.as_ptr(),
                shape.len(),
                mean,
                deviation,
                &mut raw,
            ))?;
            Ok(Tensor::adopt(raw))
        }
    }

    /// Draws bools that are true with probability `p`.
    ///
    /// ```
    /// let x = tenon::Generator::new(1)?.bernoulli(&[4], 0.5)?;
    /// # assert_eq!(x.dtype(), tenon::DType::Bool);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn bernoulli<'a>(&self, shape: &[i64], p: impl Operand<'a>) -> Result<Tensor> {
        let p = p.lend()?;
        let attrs = sys::tenon_random_bernoulli_attrs {
            struct_size: std::mem::size_of::<sys::tenon_random_bernoulli_attrs>() as u32,
            shape: shape.as_ptr(),
            n_shape: shape.len(),
        };
        self.draw(
            sys::TENON_OP_random_bernoulli,
            crate::call::attrs(&attrs),
            [ptr::null_mut(), p.raw()],
        )
    }

    /// Sets a random fraction `p` of the elements to zero and scales up the others to compensate.
    ///
    /// ```
    /// let x = tenon::Tensor::full(1f32, &[8])?;
    /// let y = tenon::Generator::new(1)?.dropout(&x, 0.5)?;
    /// # assert_eq!(y.shape()?, [8]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn dropout<'a>(&self, x: impl Operand<'a>, p: f64) -> Result<Tensor> {
        let x = x.lend()?;
        let attrs = sys::tenon_dropout_attrs {
            struct_size: std::mem::size_of::<sys::tenon_dropout_attrs>() as u32,
            ratio: p,
            training: true,
        };
        self.draw(
            sys::TENON_OP_dropout,
            crate::call::attrs(&attrs),
            [x.raw(), ptr::null_mut()],
        )
    }

    /// Calls a random op and returns its first output. The generator passes its state as the input
    /// that is NULL.
    fn draw(
        &self,
        op: u32,
        attrs: *const std::os::raw::c_void,
        inputs: [*mut sys::tenon_tensor; 2],
    ) -> Result<Tensor> {
        let mut raw = ptr::null_mut();
        // SAFETY: attributes and inputs outlive the call.
        unsafe {
            check(sys::tenon_generator_call(
                current()?,
                self.raw(),
                op,
                attrs,
                inputs.as_ptr(),
                inputs.len(),
                &mut raw,
                1,
            ))?;
            Ok(Tensor::adopt(raw))
        }
    }
}
