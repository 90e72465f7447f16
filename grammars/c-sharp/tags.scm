; Definitions
(namespace_declaration name: (_) @name) @definition.module
(class_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.class
(struct_declaration name: (identifier) @name) @definition.struct
(interface_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(delegate_declaration name: (identifier) @name) @definition.type
(method_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name) @definition.method
(local_function_statement name: (identifier) @name) @definition.function
(property_declaration name: (identifier) @name) @definition.method
(event_declaration name: (identifier) @name) @definition.constant
(event_field_declaration
  (variable_declaration (variable_declarator name: (identifier) @name))) @definition.constant
(field_declaration
  (modifier) @value
  (variable_declaration (variable_declarator name: (identifier) @name))
  (#any-of? @value "const" "static")) @definition.constant
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.field
(enum_member_declaration name: (identifier) @name) @definition.field
(record_declaration (parameter_list (parameter name: (identifier) @name) @definition.field))

(comment) @doc

; Uses
(invocation_expression function: (identifier) @reference.call)
(invocation_expression function: (generic_name (identifier) @reference.call))
(invocation_expression function: (member_access_expression name: (identifier) @reference.call))
(invocation_expression function: (member_access_expression name: (generic_name (identifier) @reference.call)))
(invocation_expression function: (conditional_access_expression
  (member_binding_expression name: (identifier) @reference.call)))
(member_access_expression expression: (identifier) @reference.type (#match? @reference.type "^[A-Z]"))
(object_creation_expression type: (identifier) @reference.type)
(object_creation_expression type: (generic_name (identifier) @reference.type))
(base_list (identifier) @reference.type)
(base_list (generic_name (identifier) @reference.type))
(attribute name: (identifier) @reference.type)
(type_argument_list (identifier) @reference.type)
(parameter type: (identifier) @reference.type)
(parameter type: (generic_name (identifier) @reference.type))
(variable_declaration type: (identifier) @reference.type)
(variable_declaration type: (generic_name (identifier) @reference.type))
(property_declaration type: (identifier) @reference.type)
(method_declaration returns: (identifier) @reference.type)
(method_declaration returns: (generic_name (identifier) @reference.type))
