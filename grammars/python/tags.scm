; Definitions
(class_definition name: (identifier) @name) @definition.class
(function_definition name: (identifier) @name) @definition.function
; Types that a call makes: `Point = namedtuple("Point", "x y")`
(module (expression_statement (assignment left: (identifier) @name right: (call function: (_) @value))) @definition.class
  (#match? @value "(^|\\.)(namedtuple|NamedTuple|TypedDict|make_dataclass|Enum|IntEnum|StrEnum|Flag|IntFlag)$"))
(module (expression_statement (assignment left: (identifier) @name)) @definition.constant)
(module (expression_statement (assignment left: (pattern_list (identifier) @name @definition.constant))))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @definition.field)))
(class_definition body: (block (expression_statement (assignment left: (pattern_list (identifier) @name @definition.field)))))
(assignment left: (attribute object: (identifier) @owner attribute: (identifier) @name)
  (#match? @owner "^([A-Z]|(self|cls)$)")) @definition.field
(assignment left: (pattern_list (attribute object: (identifier) @owner attribute: (identifier) @name) @definition.field)
  (#any-of? @owner "self" "cls"))
(call function: (identifier) @value arguments: (argument_list . (identifier) @owner . (string (string_content) @name) .
  (_)) (#eq? @value "setattr") (#match? @owner "^([A-Z]|(self|cls)$)")) @definition.field
(class_definition body: (block (expression_statement (assignment left: (identifier) @value
  right: [(tuple (string (string_content) @name) @definition.field) (list (string (string_content) @name) @definition.field)
    (string (string_content) @name) @definition.field]) (#eq? @value "__slots__"))))
(call function: (_) @value arguments: (argument_list . (string) . [
    (string (string_content) @name) @definition.field
    (list [(string (string_content) @name) @definition.field (tuple . (string (string_content) @name) @definition.field)])
    (tuple [(string (string_content) @name) @definition.field (tuple . (string (string_content) @name) @definition.field)])
    (dictionary (pair key: (string (string_content) @name) @definition.field))])
  (#match? @value "(^|\\.)(namedtuple|NamedTuple|TypedDict|make_dataclass|Enum|IntEnum|StrEnum|Flag|IntFlag)$"))
(type_alias_statement left: (type (identifier) @name)) @definition.type
(decorated_definition) @wrapper

; Comments and docstrings
(comment) @doc
(module . (comment)* . (expression_statement . (string) @docstring))
(class_definition body: (block . (expression_statement . (string) @docstring)))
(function_definition body: (block . (expression_statement . (string) @docstring)))

; Uses
(call function: (identifier) @reference.call)
(call function: (attribute attribute: (identifier) @reference.call))
(decorator (identifier) @reference.call)
(decorator (attribute attribute: (identifier) @reference.call))
(class_definition superclasses: (argument_list (identifier) @reference.type))
(class_definition superclasses: (argument_list (attribute attribute: (identifier) @reference.type)))
(type (identifier) @reference.type)
(import_from_statement name: (dotted_name (identifier) @reference.import))
(import_from_statement name: (aliased_import name: (dotted_name (identifier) @reference.import)))
