//! Types of inputs, for tracing functions and for signatures of programs.

use tenon_sys as sys;

use crate::dtype::DType;
use crate::tensor::sizes;
use crate::text::{c_text, view};

/// The type of an input. Sizes may be unknown.
///
/// ```
/// use tenon::{DType, InputSpec};
///
/// let images = InputSpec::new(DType::F32, &[None, Some(1), Some(28), Some(28)]).name("images");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct InputSpec {
    name: String,
    dtype: DType,
    shape: Vec<i64>,
    size_names: Vec<String>,
    is_scalar: bool,
}

impl InputSpec {
    /// Creates the type of a tensor. `None` is an unknown size, which may differ from call to call.
    ///
    /// ```
    /// # use tenon::{DType, InputSpec};
    /// let rows = InputSpec::new(DType::F32, &[None, Some(10)]);
    /// # assert_eq!(rows.shape(), [None, Some(10)]);
    /// ```
    pub fn new(dtype: DType, shape: &[Option<i64>]) -> Self {
        Self {
            name: String::new(),
            dtype,
            shape: shape
                .iter()
                .map(|size| size.unwrap_or(sys::TENON_SIZE_UNKNOWN))
                .collect(),
            size_names: Vec::new(),
            is_scalar: false,
        }
    }

    /// Creates the type of an inline scalar of dtype `F32`, `I64` or `Bool`.
    ///
    /// ```
    /// # use tenon::{DType, InputSpec};
    /// let rate = InputSpec::number(DType::F32).name("rate");
    /// ```
    pub fn number(dtype: DType) -> Self {
        Self {
            is_scalar: true,
            ..Self::new(dtype, &[])
        }
    }

    /// Sets the name of the input in messages and files.
    ///
    /// ```
    /// # use tenon::{DType, InputSpec};
    /// let x = InputSpec::new(DType::F32, &[None]).name("x");
    /// # assert_eq!(x.input_name(), "x");
    /// ```
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the names of unknown sizes, one for each axis. Sizes with equal names are equal. An
    /// empty string means that the size has no name.
    ///
    /// ```
    /// # use tenon::{DType, InputSpec};
    /// let square = InputSpec::new(DType::F32, &[None, None]).size_names(&["n", "n"]);
    /// ```
    #[must_use]
    pub fn size_names(mut self, names: &[&str]) -> Self {
        self.size_names = names.iter().map(|&name| name.to_owned()).collect();
        self.size_names.resize(self.shape.len(), String::new());
        self
    }

    /// The name; empty if it has none.
    ///
    /// ```
    /// # use tenon::{DType, InputSpec};
    /// assert_eq!(InputSpec::new(DType::F32, &[]).input_name(), "");
    /// ```
    pub fn input_name(&self) -> &str {
        &self.name
    }

    /// The element type.
    ///
    /// ```
    /// # use tenon::{DType, InputSpec};
    /// assert_eq!(InputSpec::new(DType::U8, &[]).dtype(), DType::U8);
    /// ```
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The sizes. `None` is an unknown size, which may differ from call to call.
    ///
    /// ```
    /// # use tenon::{DType, InputSpec};
    /// assert_eq!(InputSpec::new(DType::F32, &[None]).shape(), [None]);
    /// ```
    pub fn shape(&self) -> Vec<Option<i64>> {
        self.shape
            .iter()
            .map(|&size| (size != sys::TENON_SIZE_UNKNOWN).then_some(size))
            .collect()
    }

    /// # Safety
    /// `all` points to `count` live specs.
    pub(crate) unsafe fn from_c(all: *const sys::tenon_input_spec, count: usize) -> Vec<Self> {
        (0..count)
            .map(|index| {
                let c = &*all.add(index);
                let rank = c.rank as usize;
                Self {
                    name: view(c.name).to_owned(),
                    dtype: DType::from_c(c.dtype),
                    shape: sizes(c.shape, rank).to_vec(),
                    size_names: if c.size_names.is_null() {
                        Vec::new()
                    } else {
                        (0..rank)
                            .map(|axis| view(*c.size_names.add(axis)).to_owned())
                            .collect()
                    },
                    is_scalar: c.is_scalar,
                }
            })
            .collect()
    }
}

/// Specs as C structs, and the arrays of names that they point to.
pub(crate) struct CSpecs {
    all: Vec<sys::tenon_input_spec>,
    _names: Vec<Vec<sys::tenon_string>>,
}

impl CSpecs {
    pub(crate) fn new(specs: &[InputSpec]) -> Self {
        let names: Vec<Vec<_>> = specs
            .iter()
            .map(|spec| spec.size_names.iter().map(|name| c_text(name)).collect())
            .collect();
        let all = specs
            .iter()
            .zip(&names)
            .map(|(spec, names)| sys::tenon_input_spec {
                name: c_text(&spec.name),
                dtype: spec.dtype.to_c(),
                rank: spec.shape.len() as u32,
                shape: spec.shape.as_ptr(),
                size_names: if names.is_empty() {
                    std::ptr::null()
                } else {
                    names.as_ptr()
                },
                is_scalar: spec.is_scalar,
            })
            .collect();
        Self { all, _names: names }
    }

    /// Never NULL, because NULL means any inputs, while an empty list means no inputs.
    pub(crate) fn as_ptr(&self) -> *const sys::tenon_input_spec {
        self.all.as_ptr()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
}
