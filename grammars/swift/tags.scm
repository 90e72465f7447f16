; Definitions
(class_declaration declaration_kind: ["class" "actor"] name: (type_identifier) @name) @definition.class
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @definition.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @definition.enum
(class_declaration declaration_kind: "extension" name: (_) @name) @scope
(protocol_declaration name: (type_identifier) @name) @definition.interface
(function_declaration name: [(simple_identifier) "=="] @name) @definition.function
(protocol_function_declaration name: (simple_identifier) @name) @definition.function
(init_declaration "init" @name) @definition.method
(typealias_declaration . name: (type_identifier) @name) @definition.type
(associatedtype_declaration (type_identifier) @name) @definition.type
(source_file (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant)
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant)
(protocol_property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant
(enum_entry name: (simple_identifier) @name) @definition.field

[(comment) (multiline_comment)] @doc

; Uses
(call_expression . (simple_identifier) @reference.call)
(call_expression . (navigation_expression
  suffix: (navigation_suffix suffix: (simple_identifier) @reference.call)))
(navigation_expression target: (simple_identifier) @reference.type (#match? @reference.type "^[A-Z]"))
(user_type (type_identifier) @reference.type)
