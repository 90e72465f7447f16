; Definitions
(module name: (_) @name) @definition.module
(class name: (_) @name) @definition.class
(method name: (_) @name) @definition.method
(singleton_method name: (_) @name) @definition.method
(assignment left: (constant) @name) @definition.constant
(alias name: (identifier) @name) @definition.method
(call method: (identifier) @value arguments: (argument_list (simple_symbol) @name @definition.field)
  (#any-of? @value "attr_accessor" "attr_reader" "attr_writer"))
(singleton_class value: (_) @name) @scope

(comment) @doc

; Uses
(call method: [(identifier) (constant)] @reference.call (#not-any-of? @reference.call
  "require" "require_relative" "include" "extend" "attr_reader" "attr_writer" "attr_accessor"))
(call receiver: (constant) @reference.type)
(call arguments: (argument_list (constant) @reference.type))
(superclass (constant) @reference.type)
(superclass (scope_resolution name: (constant) @reference.type))
(scope_resolution name: (constant) @reference.type)
