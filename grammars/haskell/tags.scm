; Definitions; a signature and the clauses of its function are tagged with the same name
(data_type name: (_) @name) @definition.type
(newtype name: (_) @name) @definition.type
(type_synonym name: (_) @name) @definition.type
(field name: (field_name (variable) @name)) @definition.field
(data_constructor constructor: (prefix name: (constructor) @name)) @definition.field
(class name: (_) @name) @definition.interface
(instance name: (_) @name) @scope
(declarations [(signature name: (_) @name) (function name: (_) @name) (bind name: (_) @name)] @definition.function)
(declarations (function (infix operator: (_) @name)) @definition.function)
(class_declarations [(signature name: (_) @name) (function name: (_) @name) (bind name: (_) @name)] @definition.method)
(instance_declarations [(function name: (_) @name) (bind name: (_) @name)] @definition.method)

[(haddock) (comment)] @doc

; Uses
(apply function: (variable) @reference.call)
(apply function: (qualified id: (variable) @reference.call))
(apply function: (constructor) @reference.type)
(apply argument: (variable) @reference.call)
(exp (variable) @reference.call)
(name) @reference.type
