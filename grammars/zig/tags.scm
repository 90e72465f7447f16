; Definitions; if two patterns tag the same node, the first pattern decides the kind
(function_declaration name: (identifier) @name) @definition.function
(variable_declaration . (identifier) @name (struct_declaration)) @definition.struct
(variable_declaration . (identifier) @name (union_declaration)) @definition.struct
(variable_declaration . (identifier) @name (opaque_declaration)) @definition.struct
(variable_declaration . (identifier) @name (enum_declaration)) @definition.enum
(variable_declaration . (identifier) @name (error_set_declaration)) @definition.enum
(source_file (variable_declaration . (identifier) @name [
  (integer) (float) (string) (boolean) (call_expression) (anonymous_struct_initializer) (struct_initializer)
  (binary_expression) (unary_expression) (multiline_string)
]) @definition.constant)
(container_field name: (identifier) @name) @definition.field

(comment) @doc

; Uses
(call_expression function: (identifier) @reference.call)
(call_expression function: (field_expression member: (identifier) @reference.call))
(parameter type: (identifier) @reference.type)
(parameter type: (pointer_type (identifier) @reference.type))
(function_declaration type: (identifier) @reference.type)
(container_field type: (identifier) @reference.type)
(field_expression object: (identifier) @reference.type (#match? @reference.type "^[A-Z]"))
