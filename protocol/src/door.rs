//! From the request document to the compiler's own types: the one door, for the page and the runner.

use std::collections::BTreeMap;

use isobar_front::config::{self, Config, ConstantSet, External};
use isobar_front::project::Project;
use isobar_ground::call::launch::ScalarInput;
use isobar_ground::call::signature::Signature;
use isobar_ground::diag::catalog::call;
use isobar_ground::diag::{Diagnostic, FileId, Span};
use isobar_ground::pass::{self, DecisionLimit, GpuModel, PassOptions};
use isobar_ground::space::Axis;
use isobar_ground::types::{DType, Value};
use isobar_reference::inputs::{self, Directives, InputDirective};

use crate::request::{
    Arithmetic, Cache, Code, Constants, Contiguous, Device, GpuForm, Machine, PassLimit, Request, Tile,
};
use crate::why::Why;

impl Request {
    /// The main file: the one that is named, or the only one.
    #[must_use]
    pub fn main_file(&self) -> Option<&str> {
        match &self.main {
            Some(main) => self.files.contains_key(main).then_some(main.as_str()),
            None if self.files.len() == 1 => self.files.keys().next().map(String::as_str),
            None => None,
        }
    }

    /// The files, and the stencil or class that the request names.
    #[must_use]
    pub fn project(&self) -> Project {
        let main = self.main_file().unwrap_or_default().to_owned();
        let files = self.files.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect();
        Project { files, main, stencil: self.stencil.clone() }
    }

    /// Whether the answer is to have the text of a stage.
    #[must_use]
    pub fn wants(&self, stage: &str) -> bool {
        self.stages.as_ref().is_none_or(|wanted| wanted.iter().any(|name| name == stage))
    }

    /// The text's directives, with the generators of the request before its lines.
    ///
    /// # Errors
    ///
    /// Which generator cannot be read.
    pub fn generators(&self, directives: &Directives, signature: &Signature) -> Result<Directives, Why> {
        let mut directives = directives.clone();
        let span = Span::new(FileId::default(), 0, 0);
        let taken = self.init.iter().flatten().filter(|(name, _)| signature.param(name).is_some());
        for (field, text) in taken {
            let generator = inputs::parse::generator(text).map_err(|said| Why::Generator {
                field: field.clone(),
                text: text.clone(),
                said,
            })?;
            directives.inputs.retain(|it| it.field != *field);
            directives.inputs.push(InputDirective { field: field.clone(), generator, span });
        }
        Ok(directives)
    }

    /// The options of the compilation; `directives` of the main file give the externals that the request does not.
    ///
    /// Total: what cannot be an external stays one that the compiler refuses where it is used.
    #[must_use]
    pub fn config(&self, directives: &Directives) -> Config {
        let width = |bits: Option<u32>| bits.or(self.precision).unwrap_or(64);
        let mut config = Config {
            literal_int: Config::with_precision(width(self.literal_int_precision)).literal_int,
            literal_float: Config::with_precision(width(self.literal_float_precision)).literal_float,
            dtypes: self.dtypes.clone(),
            externals: directives.external_values(),
            levels: self.domain.map(|[_, _, levels]| levels),
            tile: self.tile.map_or_else(config::Tile::default, tile),
            constants: self.constants.map_or_else(ConstantSet::default, constants),
            minmax: self.minmax.map_or_else(config::Arithmetic::default, arithmetic),
            modulo: self.modulo.map_or_else(config::Arithmetic::default, arithmetic),
            passes: PassOptions {
                turned: false,
                skip: self.passes.skip.iter().cloned().collect(),
                stop_after: self.passes.stop_after.clone(),
                limit: self.passes.limit.as_ref().map(limit),
                trace: self.passes.trace,
                schedule: self.passes.schedule.clone(),
                steps: self.passes.steps,
                device: match self.passes.device {
                    None | Some(Device::Cpu) => pass::Device::Cpu,
                    Some(Device::Gpu | Device::H100 | Device::H200 | Device::WebGpu | Device::Lavapipe) => {
                        pass::Device::Gpu
                    }
                },
                code: match self.passes.code {
                    None | Some(Code::C) => pass::CodeGenerator::C,
                    Some(Code::Native) => {
                        let vector_bytes = self.passes.machine.as_ref().map_or(32, |it| it.vector_bytes);
                        pass::CodeGenerator::Native { vector_bits: vector_bytes.saturating_mul(8) }
                    }
                },
                gpu: match self.passes.device {
                    None | Some(Device::Cpu | Device::Gpu) => None,
                    Some(Device::H100) => Some(GpuModel::H100),
                    Some(Device::H200) => Some(GpuModel::H200),
                    Some(Device::WebGpu) => Some(GpuModel::WEBGPU),
                    Some(Device::Lavapipe) => Some(GpuModel::LAVAPIPE),
                },
                gpu_form: self.passes.gpu_form.map(|it| match it {
                    GpuForm::Points => pass::GpuForm::Points,
                    GpuForm::Recomputed => pass::GpuForm::Recomputed,
                    GpuForm::Tiles => pass::GpuForm::Tiles,
                    GpuForm::Rolled => pass::GpuForm::Rolled,
                    GpuForm::Columns => pass::GpuForm::Columns,
                    GpuForm::Sweeps => pass::GpuForm::Sweeps,
                    GpuForm::Levels => pass::GpuForm::Levels,
                }),
                machine: self.passes.machine.as_ref().map(Into::into),
                contiguous: match self.passes.contiguous {
                    None | Some(Contiguous::I) => Axis::I,
                    Some(Contiguous::J) => Axis::J,
                    Some(Contiguous::K) => Axis::K,
                },
            },
        };
        config.externals.extend(self.externals.iter().map(|(name, value)| (name.clone(), external(value))));
        config
    }

    /// Arguments of a class's constructor: those of the text's `# @external` lines, and the externals of the request.
    #[must_use]
    pub fn constructor(&self, directives: &Directives) -> serde_json::Map<String, serde_json::Value> {
        let of_text = directives.externals.iter().filter_map(|it| {
            let value = match it.value {
                External::Bool(it) => it.into(),
                External::Int(it) => it.into(),
                External::Float(it) => it.into(),
                External::None => serde_json::Value::Null,
                _ => return None,
            };
            Some((it.name.clone(), value))
        });
        let given = self.externals.iter().map(|(name, it)| (name.clone(), it.clone()));
        of_text.chain(given).collect()
    }

    /// The scalars as a call takes them.
    ///
    /// # Errors
    ///
    /// C01 for each that is neither a number nor a boolean.
    pub fn scalar_inputs(&self) -> Result<BTreeMap<String, ScalarInput>, Vec<Diagnostic>> {
        let mut inputs = BTreeMap::new();
        let mut wrong = Vec::new();
        for (name, value) in &self.scalars {
            match scalar(value) {
                Some(input) => drop(inputs.insert(name.clone(), input)),
                None => wrong.push(call::not_a_scalar(name, &value.to_string())),
            }
        }
        if wrong.is_empty() { Ok(inputs) } else { Err(wrong) }
    }
}

impl From<&Machine> for pass::MachineModel {
    fn from(Machine { cores, caches, line_bytes, vector_bytes }: &Machine) -> Self {
        let caches = caches.iter().map(|it| pass::Cache { bytes: it.bytes, cores: it.cores }).collect();
        Self { cores: *cores, caches, line_bytes: *line_bytes, vector_bytes: *vector_bytes }
    }
}

impl From<&pass::MachineModel> for Machine {
    fn from(it: &pass::MachineModel) -> Self {
        let pass::MachineModel { cores, caches, line_bytes, vector_bytes } = it;
        let caches = caches.iter().map(|it| Cache { bytes: it.bytes, cores: it.cores }).collect();
        Self { cores: *cores, caches, line_bytes: *line_bytes, vector_bytes: *vector_bytes }
    }
}

fn limit(it: &PassLimit) -> DecisionLimit {
    DecisionLimit { pass: it.pass.clone(), decisions: it.decisions }
}

fn tile(tile: Tile) -> config::Tile {
    match tile {
        Tile::Single => config::Tile::Single,
        Tile::Interior => config::Tile::Interior,
        Tile::West => config::Tile::West,
        Tile::East => config::Tile::East,
        Tile::South => config::Tile::South,
        Tile::North => config::Tile::North,
    }
}

fn constants(constants: Constants) -> ConstantSet {
    match constants {
        Constants::Ufs => ConstantSet::Ufs,
        Constants::Gfdl => ConstantSet::Gfdl,
        Constants::Geos => ConstantSet::Geos,
    }
}

fn arithmetic(arithmetic: Arithmetic) -> config::Arithmetic {
    match arithmetic {
        Arithmetic::NumPy => config::Arithmetic::NumPy,
        Arithmetic::C => config::Arithmetic::C,
    }
}

/// A number that JSON cannot spell.
fn special(text: &str) -> Option<f64> {
    match text {
        "nan" => Some(f64::NAN),
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

fn scalar(value: &serde_json::Value) -> Option<ScalarInput> {
    match value {
        serde_json::Value::Bool(it) => Some(ScalarInput::Bool(*it)),
        serde_json::Value::Number(it) => match it.as_i64() {
            Some(it) => Some(ScalarInput::Int(it)),
            None if it.is_f64() => it.as_f64().map(ScalarInput::Float),
            None => None,
        },
        serde_json::Value::String(it) => special(it).map(ScalarInput::Float),
        serde_json::Value::Object(it) => typed(it).map(ScalarInput::Typed),
        serde_json::Value::Null | serde_json::Value::Array(_) => None,
    }
}

/// `{"dtype": "float32", "value": 0.1}`
fn typed(object: &serde_json::Map<String, serde_json::Value>) -> Option<Value> {
    if object.len() != 2 {
        return None;
    }
    let dtype = DType::from_name(object.get("dtype")?.as_str()?)?;
    match object.get("value")? {
        serde_json::Value::Bool(it) => (dtype == DType::Bool).then_some(Value::Bool(*it)),
        serde_json::Value::Number(it) => match it.as_i64() {
            Some(it) => {
                let value = Value::Int64(it).cast(dtype);
                (dtype.is_float() || (dtype.is_int() && value.as_i64() == it)).then_some(value)
            }
            None => dtype.is_float().then(|| Value::Float64(it.as_f64().unwrap_or(f64::NAN)).cast(dtype)),
        },
        serde_json::Value::String(it) => {
            let it = special(it)?;
            dtype.is_float().then(|| Value::Float64(it).cast(dtype))
        }
        serde_json::Value::Null | serde_json::Value::Array(_) | serde_json::Value::Object(_) => None,
    }
}

fn external(value: &serde_json::Value) -> External {
    let known = match value {
        serde_json::Value::Null => Some(External::None),
        serde_json::Value::Object(object) => described(object),
        serde_json::Value::Bool(_) | serde_json::Value::Number(_) | serde_json::Value::String(_) => {
            match scalar(value) {
                Some(ScalarInput::Bool(it)) => Some(External::Bool(it)),
                Some(ScalarInput::Int(it)) => Some(External::Int(it)),
                Some(ScalarInput::Float(it)) => Some(External::Float(it)),
                Some(ScalarInput::Typed(it)) => Some(External::Typed(it)),
                None => None,
            }
        }
        serde_json::Value::Array(_) => None,
    };
    known.unwrap_or_else(|| External::Unsupported(value.to_string()))
}

/// An external that is an object of the document; `None` where it has other keys than it should.
fn described(object: &serde_json::Map<String, serde_json::Value>) -> Option<External> {
    let has_only = |keys: &[&str]| object.keys().all(|key| keys.contains(&key.as_str()));
    let text = |key: &str| object.get(key).and_then(serde_json::Value::as_str);
    if object.contains_key("function") && has_only(&["function"]) {
        return Some(External::Function(text("function")?.to_owned()));
    }
    if object.contains_key("enum") && has_only(&["enum", "member"]) {
        let (enumeration, member) = (text("enum")?.to_owned(), text("member")?.to_owned());
        return Some(External::Member { enumeration, member });
    }
    if object.contains_key("namespace") && has_only(&["namespace"]) {
        let members = object.get("namespace")?.as_object()?.iter();
        return Some(External::Namespace(members.map(|(name, it)| (name.clone(), external(it))).collect()));
    }
    if object.contains_key("axis") && has_only(&["axis", "index", "offset"]) {
        let axis = text("axis")?;
        let axis = Axis::ALL.into_iter().find(|it| it.name() == axis)?;
        let whole = |key: &str| match object.get(key) {
            None => Some(None),
            Some(it) => it.as_i64().map(Some),
        };
        return Some(External::Axis { axis, index: whole("index")?, offset: whole("offset")?.unwrap_or(0) });
    }
    // Any other dictionary is a namespace.
    let words = ["function", "enum", "namespace", "axis", "dtype", "value"];
    if !object.is_empty() && !words.iter().any(|it| object.contains_key(*it)) {
        let members = object.iter().map(|(name, it)| (name.clone(), external(it)));
        return Some(External::Namespace(members.collect()));
    }
    typed(object).map(External::Typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn externals(document: serde_json::Value) -> BTreeMap<String, External> {
        let request: Request = serde_json::from_value(document).expect("a request document");
        request.config(&Directives::default()).externals
    }

    #[test]
    fn every_form_of_an_external_is_understood() {
        let all = externals(serde_json::json!({"externals": {
            "a": 1.5, "b": 2, "c": true, "d": null, "e": "nan", "f": "-inf",
            "g": {"dtype": "float32", "value": 0.1}, "h": {"function": "corners.fill_x"},
            "i": {"enum": "E", "member": "A"}, "j": {"namespace": {"x": 1, "y": {"namespace": {}}}},
            "m": {"x": 1, "y": {"z": 2.5}},
            "k": {"axis": "I", "index": -2, "offset": 1}, "l": {"axis": "K"},
        }}));
        assert_eq!(all["a"], External::Float(1.5));
        assert_eq!(all["b"], External::Int(2));
        assert_eq!(all["c"], External::Bool(true));
        assert_eq!(all["d"], External::None);
        assert!(matches!(all["e"], External::Float(it) if it.is_nan()));
        assert_eq!(all["f"], External::Float(f64::NEG_INFINITY));
        assert_eq!(all["g"], External::Typed(Value::Float32(0.1)));
        assert_eq!(all["h"], External::Function("corners.fill_x".to_owned()));
        assert!(matches!(&all["i"], External::Member { enumeration, .. } if enumeration == "E"));
        assert!(matches!(&all["j"], External::Namespace(it) if it.len() == 2));
        assert!(
            matches!(&all["m"], External::Namespace(it) if matches!(&it["y"], External::Namespace(inner) if inner.len() == 1))
        );
        assert_eq!(all["k"], External::Axis { axis: Axis::I, index: Some(-2), offset: 1 });
        assert_eq!(all["l"], External::Axis { axis: Axis::K, index: None, offset: 0 });
    }

    #[test]
    fn anything_else_stays_an_external_that_is_refused_where_it_is_used() {
        let all = externals(serde_json::json!({"externals": {
            "a": "text", "b": [1], "c": {"dtype": "float16", "value": 1}, "d": {"dtype": "int8", "value": 300},
            "e": {"axis": "Q", "index": 0}, "f": {"axis": "I", "index": 0.5}, "g": {"function": 3}, "h": {},
            "i": 18446744073709551615_u64, "j": {"axis": "I", "what": 1},
        }}));
        assert!(all.values().all(|it| matches!(it, External::Unsupported(_))), "{all:?}");
    }

    #[test]
    fn precisions_may_be_given_apart() {
        let request: Request =
            serde_json::from_value(serde_json::json!({"precision": 32, "literal_int_precision": 64}))
                .expect("a request document");
        let config = request.config(&Directives::default());
        assert_eq!((config.literal_int, config.literal_float), (DType::Int64, DType::Float32));
    }

    #[test]
    fn the_tile_and_the_constants_are_named_as_ndsl_names_them() {
        for tile in config::Tile::ALL {
            for set in ConstantSet::ALL {
                let document = serde_json::json!({"tile": tile.name(), "constants": set.name()});
                let request: Request = serde_json::from_value(document).expect("a request document");
                let config = request.config(&Directives::default());
                assert_eq!((config.tile, config.constants), (tile, set));
            }
        }
    }

    #[test]
    fn each_operation_has_an_arithmetic_of_its_own() {
        for minmax in config::Arithmetic::ALL {
            for modulo in config::Arithmetic::ALL {
                let document = serde_json::json!({"minmax": minmax.name(), "mod": modulo.name()});
                let request: Request = serde_json::from_value(document).expect("a request document");
                let config = request.config(&Directives::default());
                assert_eq!((config.minmax, config.modulo), (minmax, modulo));
            }
        }
    }

    #[test]
    fn a_scalar_that_is_none_is_named() {
        let request: Request =
            serde_json::from_value(serde_json::json!({"scalars": {"a": 1, "b": "x", "c": [1]}}))
                .expect("a request document");
        let wrong = request.scalar_inputs().expect_err("two of them are no scalars");
        assert_eq!(wrong.len(), 2);
        assert!(wrong[0].message.contains("`b`") && wrong[0].code.0 == "C01");
    }
}
