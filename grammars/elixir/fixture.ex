defmodule Market.Stall do
  @moduledoc """
  Sells fruit.
  """

  use GenServer
  alias Market.Price

  @max_fruit 100

  defstruct [:owner, fruit: []]

  @type t :: %__MODULE__{owner: String.t()}

  @doc "Opens a stall."
  @spec open(String.t()) :: t
  def open(owner) when is_binary(owner) do
    GenServer.start_link(__MODULE__, owner)
    %__MODULE__{owner: owner}
  end

  # Sells one kind.
  def sell(stall, kind, count \\ 1)
  def sell(%{fruit: []}, _kind, _count), do: :empty
  def sell(stall, kind, count) do
    Price.of(kind) |> multiply(count)
  end

  defp multiply(price, count), do: price * count

  defmacro fresh?(fruit) do
    quote do: Enum.any?(unquote(fruit))
  end

  defguard is_ripe(days) when days > 3

  defmodule Customer do
    def pay(sum), do: Wallet.take(sum)
  end
end

defprotocol Weighable do
  def weigh(thing)
end

defimpl Weighable, for: Market.Stall do
  def weigh(stall), do: length(stall.fruit)
end
