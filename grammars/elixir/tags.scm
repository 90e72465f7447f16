; Every definition is a call: the name of the called function or macro shows the kind

(call target: (identifier) @value
  (arguments . (alias) @name) (do_block) (#eq? @value "defmodule")) @definition.module
(call target: (identifier) @value
  (arguments . (alias) @name) (do_block) (#eq? @value "defprotocol")) @definition.interface
(call target: (identifier) @value
  (arguments . (alias) @name) (do_block) (#eq? @value "defimpl")) @scope

; Functions with parameters and without, each with or without a guard
(call target: (identifier) @value
  (arguments . [
    (call target: (identifier) @name)
    (identifier) @name
    (binary_operator left: (call target: (identifier) @name) operator: "when")
    (binary_operator left: (identifier) @name operator: "when")
  ])
  (#any-of? @value "def" "defp" "defdelegate" "defguard" "defguardp" "defn" "defnp")) @definition.function
(call target: (identifier) @value
  (arguments . [
    (call target: (identifier) @name)
    (identifier) @name
    (binary_operator left: (call target: (identifier) @name) operator: "when")
  ])
  (#any-of? @value "defmacro" "defmacrop")) @definition.macro

; `@doc` and `@spec` belong to the definition below them; `@type` and other attributes are definitions
(unary_operator operator: "@" operand: (call target: (identifier) @value
  (#any-of? @value "doc" "typedoc")) ) @doc
(unary_operator operator: "@" operand: (call target: (identifier) @value
  (#any-of? @value "spec" "impl" "deprecated" "since"))) @attribute
(unary_operator operator: "@" operand: (call target: (identifier) @value
  (arguments (string) @docstring) (#eq? @value "moduledoc")))
(unary_operator operator: "@" operand: (call target: (identifier) @value
  (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::"))
  (#any-of? @value "type" "typep" "opaque" "callback" "macrocallback"))) @definition.type
(unary_operator operator: "@" operand: (call target: (identifier) @name (arguments)
  (#not-any-of? @name "doc" "typedoc" "moduledoc" "spec" "impl" "deprecated" "since" "type" "typep" "opaque"
    "callback" "macrocallback" "behaviour" "derive" "enforce_keys" "optional_callbacks" "dialyzer" "compile"))) @definition.constant

(comment) @doc

; Uses
(call target: (identifier) @reference.call (#not-any-of? @reference.call
  "def" "defp" "defmodule" "defmacro" "defmacrop" "defdelegate" "defguard" "defguardp" "defprotocol" "defimpl"
  "defstruct" "alias" "import" "require" "use" "if" "unless" "case" "cond" "with" "for" "quote" "unquote"
  "doc" "spec" "type" "moduledoc"))
(call target: (dot right: (identifier) @reference.call))
(alias) @reference.type
