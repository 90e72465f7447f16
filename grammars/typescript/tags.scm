; Additions of TypeScript and TSX to JavaScript

; Definitions
(abstract_class_declaration name: (_) @name) @definition.class
(interface_declaration name: (type_identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(type_alias_declaration name: (type_identifier) @name) @definition.type
(internal_module name: (_) @name) @definition.module
(module name: (_) @name) @definition.module
(function_signature name: (identifier) @name) @definition.function
(abstract_method_signature name: (property_identifier) @name) @definition.method
(interface_body (method_signature name: (property_identifier) @name) @definition.method)
(interface_body
  (property_signature name: (property_identifier) @name type: (type_annotation (function_type))) @definition.method)
(public_field_definition
  name: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(public_field_definition name: (private_property_identifier) @name) @definition.constant
(public_field_definition "static" name: (property_identifier) @name) @definition.constant
(public_field_definition name: (property_identifier) @name) @definition.field
(interface_body (property_signature name: (property_identifier) @name) @definition.field)
(type_alias_declaration value: (object_type (property_signature name: (property_identifier) @name) @definition.field))
(enum_body name: (property_identifier) @name @definition.field)
(enum_assignment name: (property_identifier) @name) @definition.field
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @definition.field
(pair key: (property_identifier) @owner value: [
  (as_expression (object [
    (method_definition name: (property_identifier) @name)
    (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)])
  ] @definition.method))
  (satisfies_expression (object [
    (method_definition name: (property_identifier) @name)
    (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)])
  ] @definition.method))
])
(ambient_declaration) @wrapper
; The grammar parses a namespace as an expression
(expression_statement (internal_module)) @wrapper

; Uses
(type_identifier) @reference.type
(extends_clause value: (identifier) @reference.type)
(extends_clause value: (member_expression property: (property_identifier) @reference.type))
