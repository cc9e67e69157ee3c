//! Variables: cells that hold a tensor.

use std::fmt;
use std::ptr;

use tenon_sys as sys;

use crate::dtype::DType;
use crate::error::{check, Result};
use crate::operand::Operand;
use crate::scope::current;
use crate::tensor::{sizes, Tensor};
use crate::text::{c_text, view};

shared_handle! {
    /// A cell that holds a tensor. Tapes watch trainable variables when they are read. Clones share
    /// the cell.
    ///
    /// ```
    /// use tenon::{tensor, Variable};
    ///
    /// let w = Variable::new(tensor![1., 2.])?;
    /// w.assign(&w * 10)?;
    /// assert_eq!(w.read()?.to_vec::<f32>()?, [10., 20.]);
    /// # tenon::Result::Ok(())
    /// ```
    Variable, tenon_variable, tenon_variable_retain, tenon_variable_release
}

/// Options for creating a variable.
///
/// ```
/// use tenon::{tensor, VariableOptions};
///
/// let mean = VariableOptions::new().name("mean").trainable(false).create(tensor![0., 0.])?;
/// assert_eq!(mean.name(), "mean");
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct VariableOptions {
    trainable: bool,
    name: String,
}

impl Default for VariableOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl VariableOptions {
    /// Returns the default options: trainable, without a name.
    ///
    /// ```
    /// let options = tenon::VariableOptions::new();
    /// ```
    pub fn new() -> Self {
        Self {
            trainable: true,
            name: String::new(),
        }
    }

    /// Sets the name of the variable, for display and for files.
    ///
    /// ```
    /// let options = tenon::VariableOptions::new().name("weight");
    /// ```
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets whether tapes watch the variable when it is read.
    ///
    /// ```
    /// let options = tenon::VariableOptions::new().trainable(false);
    /// ```
    #[must_use]
    pub fn trainable(mut self, trainable: bool) -> Self {
        self.trainable = trainable;
        self
    }

    /// Creates the variable with the dtype, shape and device of its initial value.
    ///
    /// ```
    /// let w = tenon::VariableOptions::new().name("w").create(tenon::tensor![1.])?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn create<'a>(&self, initial: impl Operand<'a>) -> Result<Variable> {
        let initial = initial.lend()?;
        let options = sys::tenon_variable_options {
            struct_size: std::mem::size_of::<sys::tenon_variable_options>() as u32,
            trainable: self.trainable,
            name: c_text(&self.name),
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the options outlive the call.
        unsafe {
            check(sys::tenon_variable_create(
                current()?,
                initial.raw(),
                &options,
                &mut raw,
            ))?;
            Ok(Variable::adopt(raw))
        }
    }
}

impl Variable {
    /// Creates a trainable variable with the dtype, shape and device of its initial value.
    ///
    /// ```
    /// let w = tenon::Variable::new(tenon::tensor![1., 2.])?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn new<'a>(initial: impl Operand<'a>) -> Result<Self> {
        VariableOptions::new().create(initial)
    }

    /// Returns the current tensor. Later assignments do not change the returned tensor.
    ///
    /// ```
    /// let w = tenon::Variable::new(tenon::tensor![1., 2.])?;
    /// assert_eq!(w.read()?.to_vec::<f32>()?, [1., 2.]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn read(&self) -> Result<Tensor> {
        let mut raw = ptr::null_mut();
        // SAFETY: the variable is live.
        unsafe {
            check(sys::tenon_variable_read(current()?, self.raw(), &mut raw))?;
            Ok(Tensor::adopt(raw))
        }
    }

    /// Replaces the tensor. No gradient flows through an assignment.
    ///
    /// ```
    /// let w = tenon::Variable::new(tenon::tensor![1., 2.])?;
    /// w.assign(tenon::tensor![3., 4.])?;
    /// # assert_eq!(w.read()?.to_vec::<f32>()?, [3., 4.]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn assign<'a>(&self, value: impl Operand<'a>) -> Result<()> {
        let value = value.lend()?;
        // SAFETY: the variable and the value are live.
        unsafe {
            check(sys::tenon_variable_assign(
                current()?,
                self.raw(),
                value.raw(),
            ))
        }
    }

    /// The element type.
    ///
    /// ```
    /// let w = tenon::Variable::new(tenon::tensor![1., 2.])?;
    /// assert_eq!(w.dtype(), tenon::DType::F32);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn dtype(&self) -> DType {
        // SAFETY: the variable is live.
        DType::from_c(unsafe { sys::tenon_variable_dtype(self.raw()) })
    }

    /// The sizes of the axes.
    ///
    /// ```
    /// let w = tenon::Variable::new(tenon::tensor![1., 2.])?;
    /// assert_eq!(w.shape(), [2]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn shape(&self) -> &[i64] {
        // SAFETY: the sizes live as long as the variable.
        unsafe {
            sizes(
                sys::tenon_variable_shape(self.raw()),
                sys::tenon_variable_rank(self.raw()),
            )
        }
    }

    /// The name of the variable; empty if it has none.
    ///
    /// ```
    /// let w = tenon::Variable::new(tenon::tensor![1., 2.])?;
    /// assert_eq!(w.name(), "");
    /// # tenon::Result::Ok(())
    /// ```
    pub fn name(&self) -> &str {
        // SAFETY: the name lives as long as the variable.
        unsafe { view(sys::tenon_variable_name(self.raw())) }
    }

    /// The name of the variable's device.
    ///
    /// ```
    /// let w = tenon::Variable::new(tenon::tensor![1., 2.])?;
    /// assert_eq!(w.device(), "cpu:0");
    /// # tenon::Result::Ok(())
    /// ```
    pub fn device(&self) -> &str {
        // SAFETY: the string lives as long as the variable.
        unsafe { view(sys::tenon_variable_device_name(self.raw())) }
    }

    /// Whether tapes watch the variable when it is read.
    ///
    /// ```
    /// let w = tenon::Variable::new(tenon::tensor![1., 2.])?;
    /// assert!(w.is_trainable());
    /// # tenon::Result::Ok(())
    /// ```
    pub fn is_trainable(&self) -> bool {
        // SAFETY: the variable is live.
        unsafe { sys::tenon_variable_is_trainable(self.raw()) }
    }

    /// Sets whether tapes watch the variable, beginning with its next read.
    ///
    /// ```
    /// let w = tenon::Variable::new(tenon::tensor![1., 2.])?;
    /// w.set_trainable(false);
    /// # assert!(!w.is_trainable());
    /// # tenon::Result::Ok(())
    /// ```
    pub fn set_trainable(&self, trainable: bool) {
        // SAFETY: any thread may call the C function.
        unsafe { sys::tenon_variable_set_trainable(self.raw(), trainable) }
    }
}

impl fmt::Debug for Variable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "Variable({:?} {}{:?})",
            self.name(),
            self.dtype(),
            self.shape()
        )
    }
}

/// A tensor or a variable, with respect to which gradients are computed.
///
/// ```
/// use tenon::{tensor, Tape, Value, Variable};
///
/// let w = Variable::new(tensor![1.])?;
/// let tape = Tape::new()?;
/// w.read()?;
/// assert!(matches!(&tape.watched()?[0], Value::Variable(found) if found.shape() == [1]));
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value {
    /// A tensor.
    Tensor(Tensor),
    /// A variable.
    Variable(Variable),
}

impl Value {
    /// Takes ownership of a value.
    ///
    /// # Safety
    /// `raw` is a value; the caller owns one reference to it.
    pub(crate) unsafe fn adopt(raw: *mut sys::tenon_value) -> Self {
        let variable = sys::tenon_value_as_variable(raw);
        let value = if variable.is_null() {
            Self::Tensor(Tensor::share(sys::tenon_value_as_tensor(raw)))
        } else {
            Self::Variable(Variable::share(variable))
        };
        sys::tenon_value_release(raw);
        value
    }
}

/// A source of gradients: a tensor or a variable, by reference.
///
/// ```
/// use tenon::{tensor, Source, Tape, Variable};
///
/// let (w, x) = (Variable::new(tensor![2.])?, tensor![3.]?);
/// let tape = Tape::new()?;
/// tape.watch(&x)?;
/// let y = (&w * &x)?;
/// let sources: [&dyn Source; 2] = [&w, &x];
/// let gradients = tape.gradients(&y, sources)?;
/// assert_eq!(gradients[0].item::<f32>()?, 3.);
/// # tenon::Result::Ok(())
/// ```
pub trait Source {
    /// Returns the handle, without adding a reference.
    #[doc(hidden)]
    fn as_value(&self) -> *mut sys::tenon_value;
}

impl Source for Tensor {
    fn as_value(&self) -> *mut sys::tenon_value {
        // SAFETY: the value is the same object under another C type.
        unsafe { sys::tenon_tensor_as_value(self.raw()) }
    }
}

impl Source for Variable {
    fn as_value(&self) -> *mut sys::tenon_value {
        // SAFETY: the value is the same object under another C type.
        unsafe { sys::tenon_variable_as_value(self.raw()) }
    }
}

impl Source for Value {
    fn as_value(&self) -> *mut sys::tenon_value {
        match self {
            Self::Tensor(tensor) => tensor.as_value(),
            Self::Variable(variable) => variable.as_value(),
        }
    }
}

impl<S: Source + ?Sized> Source for &S {
    fn as_value(&self) -> *mut sys::tenon_value {
        (**self).as_value()
    }
}
