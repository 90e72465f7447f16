//! Builds the graph of files that use each other's symbols.

use indexmap::IndexSet;
use memod_base::types::is_compound;

use super::map_file::MapFile;
use super::module_files::{ChosenDefiners, ModuleFiles};
use super::use_keys::{is_member_key, name_of_key};

/// Most files that a use may mean: uses of a more common name (`new`, `main`, `test`) do not relate files, unless an import tells
/// which file is meant. This also limits the number of edges.
const MAX_DEFINERS: usize = 24;

/// Most files that define a name for which imports are compared.
const MOST_COMPARED: usize = 240;

/// Weight of a use of a member whose name is one word.
const MEMBER_WEIGHT: f64 = 0.2;

/// Weight of a use of a variable, a constant or a module. Tables of constants, such as the tokens of a parser, are used in most
/// files, but a reader wants to know the functions and types.
const VALUE_WEIGHT: f64 = 0.25;

/// A use in one file of a name that another file defines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WeightedUse {
    /// Index of the defining file.
    pub(super) definer: u32,
    /// Index of the first symbol with that name in the defining file.
    pub(super) symbol: u32,
    /// Weight of the use, above 0.
    pub(super) weight: f64,
}

/// The uses of each file, in the order of the names that the file uses.
#[derive(Clone, Default)]
pub(super) struct UseGraph {
    /// All uses; those of file `n` are `uses[starts[n]..starts[n + 1]]`.
    uses: Vec<WeightedUse>,
    starts: Vec<usize>,
}

impl UseGraph {
    /// Connects each use with the files that define its name. In a file that defines the name itself, a use means the file's
    /// own definition.
    pub(super) fn from_files(files: &[MapFile], names: &IndexSet<Box<str>>) -> Self {
        let modules = ModuleFiles::from_files(files, names);
        let of_names = list_definers(files, names);
        let mut uses = Vec::new();
        let mut starts = vec![0];
        for (user, file) in files.iter().enumerate() {
            for used in file.key_uses() {
                let NameDefiners { places, weight } = &of_names[used.key as usize];
                if used.count == 0 || places.iter().any(|(definer, _)| *definer as usize == user) {
                    continue;
                }
                let n_uses = f64::from(used.count).sqrt();
                let mut connect = |&(definer, symbol): &(u32, u32), weight: f64| {
                    let is_value = files[definer as usize].symbols()[symbol as usize].is_value;
                    let weight = n_uses * weight * if is_value { VALUE_WEIGHT } else { 1.0 };
                    uses.push(WeightedUse { definer, symbol, weight });
                };
                match modules.choose_definers(used, places) {
                    ChosenDefiners::All if places.len() > MAX_DEFINERS => {}
                    ChosenDefiners::All => places.iter().for_each(|place| connect(place, *weight)),
                    ChosenDefiners::Some(chosen) if chosen.len() > MAX_DEFINERS => {}
                    ChosenDefiners::Some(chosen) => {
                        let weight = use_weight(&names[used.key as usize], chosen.len(), files.len());
                        chosen.into_iter().for_each(|place| connect(place, weight));
                    }
                }
            }
            starts.push(uses.len());
        }
        Self { uses, starts }
    }

    pub(super) fn uses_of(&self, user: usize) -> &[WeightedUse] {
        &self.uses[self.starts[user]..self.starts[user + 1]]
    }

    /// Returns the size in memory, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.uses) + size_of_val(&*self.starts)
    }
}

/// The definers of a name; none if more than [`MOST_COMPARED`] files define it.
#[derive(Clone, Default)]
struct NameDefiners {
    /// The files, ascending, each with its first symbol of that name.
    places: Vec<(u32, u32)>,
    /// Weight of one use for each definer; computed once, because names are used far more often.
    weight: f64,
}

/// Returns the definers of each name, by its number.
fn list_definers(files: &[MapFile], names: &IndexSet<Box<str>>) -> Vec<NameDefiners> {
    let mut definers = vec![NameDefiners::default(); names.len()];
    for (nth, file) in files.iter().enumerate() {
        for (symbol, numbered) in file.symbols().iter().enumerate() {
            let places = &mut definers[numbered.key as usize].places;
            if places.last().is_none_or(|(last, _)| *last as usize != nth) {
                places.push((nth as u32, symbol as u32));
            }
        }
    }
    for (of_name, name) in definers.iter_mut().zip(names) {
        match of_name.places.len() {
            0 => {}
            1..=MOST_COMPARED => {
                of_name.weight = use_weight(name, of_name.places.len(), files.len());
            }
            _ => *of_name = NameDefiners::default(),
        }
    }
    definers
}

/// Returns the weight of one use of `name` for each file that defines it.
///
/// A use is divided among the defining files. It counts less the more of them there are, as in inverse document frequency,
/// because it is less certain which file is meant. A short name is probably local, a compound name is rarely ambiguous, and a
/// leading underscore marks a private name. A member may also be one of another library, as `push` and `join` are.
fn use_weight(key: &str, n_definers: usize, n_files: usize) -> f64 {
    let name = name_of_key(key);
    let certainty = if is_member_key(key) && !is_compound(name) { MEMBER_WEIGHT } else { 1.0 };
    let rarity = (1.0 + n_files as f64 / n_definers as f64).ln() / (1.0 + n_files as f64).ln();
    let length = match name.chars().count() {
        0..=2 => 0.1,
        3 => 0.5,
        _ => 1.0,
    };
    let privacy = if name.starts_with('_') { 0.2 } else { 1.0 };
    rarity * length * privacy * certainty * if is_compound(name) { 2.0 } else { 1.0 } / n_definers as f64
}
