//! Classifies the words of C and C++ that a grammar does not know as macros, types or keywords.

/// Annotations that compilers and the CUDA toolkit define, and conventional names of calling conventions. They are never
/// needed to understand a declaration. Sorted.
const ANNOTATIONS: [&str; 62] = [
    "APIENTRY",
    "APIPRIVATE",
    "CALLBACK",
    "GLAPIENTRY",
    "JNICALL",
    "NTAPI",
    "PASCAL",
    "STDAPICALLTYPE",
    "STDMETHODCALLTYPE",
    "WINAPI",
    "WINAPIV",
    "_Nonnull",
    "_Null_unspecified",
    "_Nullable",
    "_Pragma",
    "__aligned",
    "__always_inline",
    "__asm",
    "__asm__",
    "__attribute",
    "__attribute__",
    "__cdecl",
    "__clrcall",
    "__cold",
    "__constant__",
    "__declspec",
    "__device__",
    "__exit",
    "__extension__",
    "__fastcall",
    "__force",
    "__forceinline",
    "__forceinline__",
    "__global__",
    "__grid_constant__",
    "__host__",
    "__init",
    "__initconst",
    "__initdata",
    "__inline",
    "__inline__",
    "__iomem",
    "__launch_bounds__",
    "__managed__",
    "__maybe_unused",
    "__must_check",
    "__noinline__",
    "__packed",
    "__pascal",
    "__percpu",
    "__pragma",
    "__ptr32",
    "__ptr64",
    "__rcu",
    "__restrict",
    "__restrict__",
    "__shared__",
    "__stdcall",
    "__thiscall",
    "__user",
    "__vectorcall",
    "noinline",
];

/// Annotations that have arguments, which belong to them.
const WITH_ARGUMENTS: [&str; 10] = [
    "_Pragma",
    "__aligned",
    "__asm",
    "__asm__",
    "__attribute",
    "__attribute__",
    "__declspec",
    "__launch_bounds__",
    "__pragma",
    "__launch_bounds",
];

/// Words that begin or are part of a declaration and are no type.
const SPECIFIERS: [&str; 28] = [
    "_Noreturn",
    "_Static_assert",
    "_Thread_local",
    "consteval",
    "constexpr",
    "constinit",
    "const",
    "explicit",
    "export",
    "extern",
    "final",
    "friend",
    "inline",
    "mutable",
    "noexcept",
    "override",
    "register",
    "restrict",
    "static",
    "static_assert",
    "template",
    "thread_local",
    "typedef",
    "typename",
    "using",
    "virtual",
    "volatile",
    "alignas",
];

/// Types that are keywords.
const PRIMITIVES: [&str; 18] = [
    "_Bool", "auto", "bool", "char", "char16_t", "char32_t", "char8_t", "complex", "decltype", "double",
    "float", "int", "long", "short", "signed", "unsigned", "void", "wchar_t",
];

/// Words that only statements and expressions have.
const STATEMENTS: [&str; 36] = [
    "alignof",
    "and",
    "asm",
    "break",
    "case",
    "catch",
    "const_cast",
    "continue",
    "co_await",
    "co_return",
    "co_yield",
    "default",
    "defined",
    "delete",
    "do",
    "dynamic_cast",
    "else",
    "false",
    "for",
    "goto",
    "if",
    "new",
    "not",
    "nullptr",
    "or",
    "reinterpret_cast",
    "return",
    "sizeof",
    "static_cast",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeid",
    "while",
];

/// Macros of Qt and Unreal that are a whole line of a class.
const LINE_MACROS: [&str; 14] = [
    "Q_OBJECT",
    "Q_GADGET",
    "Q_PROPERTY",
    "Q_INTERFACES",
    "Q_ENUM",
    "Q_ENUMS",
    "Q_FLAG",
    "Q_FLAGS",
    "Q_DISABLE_COPY",
    "Q_DISABLE_COPY_MOVE",
    "Q_CLASSINFO",
    "GENERATED_BODY",
    "UPROPERTY",
    "UFUNCTION",
];

/// Parts of the names of macros that only change the linkage or the visibility of what follows.
const LINKAGE_PARTS: [&str; 16] = [
    "API",
    "EXPORT",
    "EXTERN",
    "DECL",
    "INLINE",
    "STATIC",
    "PUBLIC",
    "DEPRECATED",
    "ATTR",
    "NODISCARD",
    "CONSTEXPR",
    "VISIB",
    "UNUSED",
    "NORETURN",
    "DLL",
    "HIDDEN",
];

/// Returns whether a word is an annotation that may be left out wherever it is.
pub(super) fn is_annotation(word: &str) -> bool {
    let may_be =
        word.starts_with('_') || word == "noinline" || word.starts_with(|c: char| c.is_ascii_uppercase());
    may_be && ANNOTATIONS.binary_search(&word).is_ok()
}

pub(super) fn has_arguments(annotation: &str) -> bool {
    WITH_ARGUMENTS.contains(&annotation)
}

pub(super) fn is_specifier(word: &str) -> bool {
    SPECIFIERS.contains(&word)
}

pub(super) fn is_primitive(word: &str) -> bool {
    PRIMITIVES.contains(&word)
}

pub(super) fn is_class_key(word: &str) -> bool {
    matches!(word, "class" | "struct" | "union" | "enum")
}

pub(super) fn is_access(word: &str) -> bool {
    matches!(word, "public" | "private" | "protected")
}

/// Returns whether a word is a keyword of C or C++.
pub(super) fn is_keyword(word: &str) -> bool {
    is_specifier(word)
        || is_primitive(word)
        || is_class_key(word)
        || is_access(word)
        || STATEMENTS.contains(&word)
        || matches!(word, "namespace" | "operator" | "requires" | "concept")
}

pub(super) fn is_line_macro(word: &str) -> bool {
    LINE_MACROS.contains(&word)
}

/// Returns whether a macro with this name opens or closes a namespace or a block of declarations.
pub(super) fn brackets_declarations(word: &str) -> bool {
    ["NAMESPACE", "BEGIN_", "_BEGIN", "END_", "_END", "_DECLS"].iter().any(|part| word.contains(part))
}

/// Returns whether a word is spelt as people spell macros: in capitals, digits and underscores.
pub(super) fn is_macro_name(word: &str) -> bool {
    let mut n_capitals = 0;
    let is_spelt = word.bytes().all(|byte| {
        n_capitals += usize::from(byte.is_ascii_uppercase());
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'
    });
    is_spelt && n_capitals > 1
}

/// Returns whether a macro with this name changes only linkage, visibility or warnings, so that it is no type.
pub(super) fn is_linkage_macro(word: &str) -> bool {
    is_macro_name(word) && LINKAGE_PARTS.iter().any(|part| word.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_are_sorted() {
        assert!(ANNOTATIONS.is_sorted());
        assert!(is_annotation("__global__") && is_annotation("WINAPI") && is_annotation("noinline"));
        assert!(!is_annotation("inline") && !is_annotation("__u32") && !is_annotation("DWORD"));
    }

    #[test]
    fn capitals_make_a_macro_name() {
        for (word, expected) in
            [("FMT_API", true), ("DWORD", true), ("T", false), ("T_1", false), ("GLuint", false)]
        {
            assert_eq!(is_macro_name(word), expected, "{word}");
        }
    }
}
