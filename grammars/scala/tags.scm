; Definitions
(trait_definition name: (identifier) @name) @definition.trait
(class_definition name: (identifier) @name) @definition.class
(object_definition name: (identifier) @name) @definition.class
(package_object name: (identifier) @name) @definition.module
(enum_definition name: (identifier) @name) @definition.enum
(function_definition name: (_) @name) @definition.function
(function_declaration name: (_) @name) @definition.function
(type_definition name: (type_identifier) @name) @definition.type
(given_definition name: (identifier) @name) @definition.constant
(template_body (val_definition pattern: (identifier) @name) @definition.constant)
(template_body (var_definition pattern: (identifier) @name) @definition.constant)
(compilation_unit (val_definition pattern: (identifier) @name) @definition.constant)
(class_definition class_parameters: (class_parameters (class_parameter name: (identifier) @name) @definition.field))
(simple_enum_case name: (identifier) @name) @definition.field
(full_enum_case name: (identifier) @name) @definition.field
(extension_definition parameters: (parameters (parameter type: (_) @name))) @scope

[(comment) (block_comment)] @doc
(annotation) @attribute

; Uses
(call_expression function: (identifier) @reference.call)
(call_expression function: (field_expression field: (identifier) @reference.call))
(call_expression function: (generic_function function: (identifier) @reference.call))
(field_expression value: (identifier) @reference.type (#match? @reference.type "^[A-Z]"))
(type_identifier) @reference.type
