import 'package:shop/items.dart' as items;

/// The rate of the tax.
const double taxRate = 0.19;
final names = <String>['a', 'b'], others = <int>[];

typedef Loader = Future<Order> Function(int id);

/// An order of a customer.
@immutable
class Order extends Base<Item> with Priced implements Comparable<Order> {
  final int total;
  static const limit = 10;
  late final Map<String, List<int>> byName;
  int a = 1, b = 2;

  Order(this.total, {required this.byName}) : assert(total > 0), super(total);
  const Order.empty() : total = 0;
  factory Order.fromJson(Map<String, dynamic> json) => Order(json['total'] as int);

  int get twice => total * 2;
  set rest(int value) {
    _rest = value;
  }

  @override
  int compareTo(Order other) => total.compareTo(other.total);

  Future<List<Item>> load<T extends Item>(int id, {bool all = false}) async {
    final found = await items.find(id);
    return found.where((item) => item.price > 1).toList();
  }

  bool operator ==(Object other) => other is Order;
}

abstract mixin class Priced {
  int price();
}

enum Color {
  red(1),
  @Deprecated('no')
  green(2);

  const Color(this.code);
  final int code;
}

extension OrderText on Order {
  String describe() => 'order $total';
}

extension on int {
  int plusOne() => this + 1;
}

(int, int) pair() => (1, 2);

void main() {
  var order = Order(1, byName: {});
  print(order.twice);
  order.load(3, all: true);
}
