//! Lists the kinds of nodes that matter in the syntax trees of each language.

use super::value_types::ValueDeclaration;

/// The syntax of a language's imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImportSyntax {
    Python,
    JavaScript,
    Go,
    Rust,
    Java,
    C,
}

/// The kinds of nodes that matter in a grammar. A pair is a kind of node and one of its fields.
pub(super) struct NodeKinds {
    /// Leaves that are names.
    pub(super) names: &'static [&'static str],
    /// Member expressions: kind, the field of the object, the field of the member's name.
    pub(super) members: &'static [(&'static str, &'static str, &'static str)],
    /// Member expressions whose member is a field unless it is called. In Java, types and packages are written so, too.
    pub(super) fields: &'static [&'static str],
    /// Calls, with the field of the callee.
    pub(super) calls: &'static [(&'static str, &'static str)],
    /// Nodes with the bases of a type, and the field of the bases; an empty field means the whole node. A field declaration
    /// without a name embeds its type as a base.
    pub(super) bases: &'static [(&'static str, &'static str)],
    /// Nodes that bind the names inside of a field; an empty field means the whole node.
    pub(super) binders: &'static [(&'static str, &'static str)],
    /// Type parameters, with the field of their name; an empty field means the first type name inside of the node. Templates
    /// of C++ are handled separately.
    pub(super) type_parameters: &'static [(&'static str, &'static str)],
    /// Declarations that may name the type of a value.
    pub(super) values: &'static [ValueDeclaration],
    /// Functions, with the field of the type that they return.
    pub(super) functions: &'static [(&'static str, &'static str)],
    /// Nodes with the parameters of a function, in languages whose compilers count arguments.
    pub(super) callables: &'static [&'static str],
    /// Names that are only labels, such as keyword arguments and keys.
    pub(super) labels: &'static [(&'static str, &'static str)],
    /// Methods that name their receiver, with the field of the receiver.
    pub(super) methods: &'static [(&'static str, &'static str)],
    /// Expressions that have the same members as their first child.
    pub(super) transparent: &'static [&'static str],
    /// Leaves that may begin a path and are no names, such as `crate`.
    pub(super) path_roots: &'static [&'static str],
    /// Names for the enclosing value or type, such as `self`.
    pub(super) self_names: &'static [&'static str],
    /// Statements that import.
    pub(super) imports: &'static [&'static str],
    pub(super) import_syntax: ImportSyntax,
    /// Statements that name the package.
    pub(super) packages: &'static [&'static str],
}

/// The kind of a field declaration; without a name, it embeds a base.
pub(super) const FIELD_DECLARATION: &str = "field_declaration";
/// Kinds of the types of Go that have elements.
pub(super) const GO_LIST_TYPES: [&str; 3] = ["array_type", "slice_type", "implicit_length_array_type"];
/// Kinds of names in JavaScript and TypeScript that are values.
pub(super) const JAVASCRIPT_VALUES: [&str; 2] = ["identifier", "shorthand_property_identifier"];
/// Kinds of the declarations of C and C++ that give a type another name.
pub(super) const ALIASES: [&str; 2] = ["type_definition", "alias_declaration"];
/// Kinds of the tags of JSX.
pub(super) const JSX_TAGS: [&str; 3] =
    ["jsx_opening_element", "jsx_closing_element", "jsx_self_closing_element"];
/// The kind of a list of parameters of a C++ template.
pub(super) const TEMPLATE_PARAMETERS: &str = "template_parameter_list";

/// Returns the kinds of nodes that matter in a language; `None` if its uses are not resolved.
pub(super) fn node_kinds(language: &str) -> Option<&'static NodeKinds> {
    Some(match language {
        "python" => &PYTHON,
        "go" => &GO,
        "rust" => &RUST,
        "javascript" | "typescript" | "tsx" | "vue" | "svelte" | "astro" => &JAVASCRIPT,
        "java" => &JAVA,
        "c" | "cpp" => &C,
        _ => return None,
    })
}

const PYTHON: NodeKinds = NodeKinds {
    names: &["identifier"],
    members: &[("attribute", "object", "attribute")],
    fields: &[],
    calls: &[("call", "function")],
    bases: &[("class_definition", "superclasses")],
    binders: &[
        ("parameters", ""),
        ("lambda_parameters", ""),
        ("assignment", "left"),
        ("for_statement", "left"),
        ("for_in_clause", "left"),
        ("as_pattern_target", ""),
        ("named_expression", "name"),
    ],
    type_parameters: &[],
    values: &[
        ("typed_parameter", "", "type", ""),
        ("typed_default_parameter", "name", "type", ""),
        ("assignment", "left", "type", "right"),
        ("named_expression", "name", "", "value"),
    ],
    functions: &[("function_definition", "return_type")],
    callables: &[],
    labels: &[
        ("keyword_argument", "name"),
        ("keyword_pattern", ""),
        ("default_parameter", "name"),
        ("typed_default_parameter", "name"),
    ],
    methods: &[],
    transparent: &["parenthesized_expression", "await"],
    path_roots: &[],
    self_names: &["self", "cls"],
    imports: &["import_statement", "import_from_statement", "future_import_statement"],
    import_syntax: ImportSyntax::Python,
    packages: &[],
};

const GO: NodeKinds = NodeKinds {
    names: &["identifier", "type_identifier", "field_identifier", "package_identifier"],
    members: &[("selector_expression", "operand", "field"), ("qualified_type", "package", "name")],
    fields: &[],
    calls: &[("call_expression", "function")],
    bases: &[("interface_type", ""), (FIELD_DECLARATION, "type")],
    binders: &[
        ("parameter_declaration", "name"),
        ("variadic_parameter_declaration", "name"),
        ("short_var_declaration", "left"),
        ("var_spec", "name"),
        ("const_spec", "name"),
        ("range_clause", "left"),
        ("receive_statement", "left"),
        ("type_switch_statement", "alias"),
    ],
    type_parameters: &[("type_parameter_declaration", "name")],
    values: &[
        ("parameter_declaration", "name", "type", ""),
        ("var_spec", "name", "type", "value"),
        ("field_declaration", "name", "type", ""),
        ("short_var_declaration", "left", "", "right"),
    ],
    functions: &[
        ("function_declaration", "result"),
        ("method_declaration", "result"),
        ("method_elem", "result"),
    ],
    callables: &["function_declaration", "method_declaration", "method_elem"],
    labels: &[("field_declaration", "name"), ("keyed_element", "key")],
    methods: &[("method_declaration", "receiver")],
    transparent: &["parenthesized_expression", "unary_expression", "composite_literal"],
    path_roots: &[],
    self_names: &[],
    imports: &["import_declaration"],
    import_syntax: ImportSyntax::Go,
    packages: &["package_clause"],
};

const RUST: NodeKinds = NodeKinds {
    names: &["identifier", "type_identifier", "field_identifier", "shorthand_field_identifier"],
    members: &[
        ("field_expression", "value", "field"),
        ("scoped_identifier", "path", "name"),
        ("scoped_type_identifier", "path", "name"),
    ],
    fields: &["field_expression"],
    calls: &[
        ("call_expression", "function"),
        ("generic_function", "function"),
        ("macro_invocation", "macro"),
    ],
    bases: &[("impl_item", "trait"), ("trait_item", "bounds")],
    binders: &[
        ("parameter", "pattern"),
        ("let_declaration", "pattern"),
        ("closure_parameters", ""),
        ("for_expression", "pattern"),
        ("let_condition", "pattern"),
        ("match_arm", "pattern"),
    ],
    type_parameters: &[("type_parameter", "name"), ("const_parameter", "name")],
    values: &[
        ("parameter", "pattern", "type", ""),
        ("let_declaration", "pattern", "type", "value"),
        ("field_declaration", "name", "type", ""),
    ],
    functions: &[("function_item", "return_type"), ("function_signature_item", "return_type")],
    callables: &["function_item", "function_signature_item"],
    labels: &[("field_initializer", "field"), ("field_declaration", "name"), ("field_pattern", "name")],
    methods: &[],
    transparent: &[
        "reference_expression",
        "parenthesized_expression",
        "await_expression",
        "unary_expression",
    ],
    path_roots: &["crate", "super"],
    self_names: &["self", "Self"],
    imports: &["use_declaration"],
    import_syntax: ImportSyntax::Rust,
    packages: &[],
};

const JAVASCRIPT: NodeKinds = NodeKinds {
    names: &[
        "identifier",
        "type_identifier",
        "property_identifier",
        "shorthand_property_identifier",
        "private_property_identifier",
    ],
    members: &[("member_expression", "object", "property"), ("nested_type_identifier", "module", "name")],
    fields: &[],
    calls: &[
        ("call_expression", "function"),
        ("new_expression", "constructor"),
        // React calls the component.
        ("jsx_opening_element", "name"),
        ("jsx_self_closing_element", "name"),
    ],
    bases: &[
        ("class_heritage", ""),
        ("extends_clause", ""),
        ("implements_clause", ""),
        ("extends_type_clause", ""),
    ],
    binders: &[
        ("formal_parameters", ""),
        ("variable_declarator", "name"),
        ("arrow_function", "parameter"),
        ("for_in_statement", "left"),
        ("catch_clause", "parameter"),
    ],
    type_parameters: &[("type_parameter", "name"), ("mapped_type_clause", "name"), ("infer_type", "")],
    values: &[
        ("required_parameter", "pattern", "type", ""),
        ("optional_parameter", "pattern", "type", ""),
        ("variable_declarator", "name", "type", "value"),
        ("public_field_definition", "name", "type", "value"),
        ("field_definition", "property", "", "value"),
        ("property_signature", "name", "type", ""),
        ("assignment_expression", "left", "", "right"),
    ],
    functions: &[
        ("function_declaration", "return_type"),
        ("method_definition", "return_type"),
        ("method_signature", "return_type"),
        ("abstract_method_signature", "return_type"),
        ("function_signature", "return_type"),
    ],
    callables: &[],
    labels: &[
        ("pair", "key"),
        ("pair_pattern", "key"),
        ("property_signature", "name"),
        ("public_field_definition", "name"),
        ("field_definition", "property"),
        ("method_definition", "name"),
        ("jsx_attribute", ""),
        ("jsx_namespace_name", ""),
        ("enum_body", "name"),
        ("enum_assignment", "name"),
    ],
    methods: &[],
    transparent: &[
        "parenthesized_expression",
        "await_expression",
        "non_null_expression",
        "as_expression",
        "satisfies_expression",
    ],
    path_roots: &[],
    self_names: &["this", "super"],
    imports: &["import_statement", "export_statement"],
    import_syntax: ImportSyntax::JavaScript,
    packages: &[],
};

const JAVA: NodeKinds = NodeKinds {
    names: &["identifier", "type_identifier"],
    members: &[
        ("method_invocation", "object", "name"),
        ("field_access", "object", "field"),
        ("scoped_identifier", "scope", "name"),
    ],
    fields: &["field_access"],
    calls: &[("method_invocation", "name"), ("object_creation_expression", "type")],
    bases: &[("superclass", ""), ("super_interfaces", ""), ("extends_interfaces", "")],
    binders: &[
        ("formal_parameter", "name"),
        ("variable_declarator", "name"),
        ("enhanced_for_statement", "name"),
        ("resource", "name"),
        ("catch_formal_parameter", "name"),
        ("inferred_parameters", ""),
        ("lambda_expression", "parameters"),
        ("instanceof_expression", "name"),
    ],
    type_parameters: &[("type_parameter", "")],
    values: &[
        ("instanceof_expression", "name", "right", ""),
        ("formal_parameter", "name", "type", ""),
        ("local_variable_declaration", "declarator", "type", ""),
        ("field_declaration", "declarator", "type", ""),
        ("variable_declarator", "name", "", "value"),
        ("enhanced_for_statement", "name", "type", ""),
        ("resource", "name", "type", "value"),
        ("catch_formal_parameter", "name", "", ""),
    ],
    functions: &[("method_declaration", "type")],
    callables: &["constructor_declaration", "method_declaration"],
    labels: &[("element_value_pair", "key")],
    methods: &[],
    transparent: &["parenthesized_expression"],
    path_roots: &[],
    self_names: &["this", "super"],
    imports: &["import_declaration"],
    import_syntax: ImportSyntax::Java,
    packages: &["package_declaration"],
};

const C: NodeKinds = NodeKinds {
    names: &["identifier", "type_identifier", "field_identifier", "namespace_identifier"],
    members: &[("field_expression", "argument", "field"), ("qualified_identifier", "scope", "name")],
    fields: &["field_expression"],
    calls: &[("call_expression", "function")],
    bases: &[("base_class_clause", ""), (ALIASES[0], "type"), (ALIASES[1], "type")],
    binders: &[
        ("parameter_declaration", "declarator"),
        ("init_declarator", "declarator"),
        ("declaration", "declarator"),
        ("for_range_loop", "declarator"),
    ],
    type_parameters: &[],
    values: &[
        ("parameter_declaration", "declarator", "type", ""),
        ("declaration", "declarator", "type", ""),
        ("init_declarator", "declarator", "", "value"),
        ("field_declaration", "declarator", "type", ""),
        ("for_range_loop", "declarator", "type", ""),
    ],
    functions: &[("function_definition", "type")],
    callables: &["function_declarator", "preproc_function_def"],
    labels: &[
        ("field_declaration", "declarator"),
        ("field_designator", ""),
        ("offsetof_expression", "member"),
    ],
    methods: &[],
    transparent: &["parenthesized_expression", "pointer_expression"],
    path_roots: &[],
    self_names: &["this"],
    imports: &["preproc_include"],
    import_syntax: ImportSyntax::C,
    packages: &[],
};
