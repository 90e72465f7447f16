//! Checks the uses of fields in patterns, typed literals and casts.

use super::check;

#[test]
fn patterns_read_the_fields_of_what_they_take_apart() {
    let repository = "\
== cart.ts
export interface Base { total: number }
export class Cart implements Base { total = 0 }
export class Bill { total = 0; cart: Cart = new Cart() }
== use.ts
import { Cart, Bill } from './cart'
const { total } = new Cart()
function one(cart: Cart, bill: Bill) {
  const { total } = cart
  const { total: sum = 1 } = bill
  const { cart: { total: inner } } = bill
  return total + sum + inner
}
const two = ({ total }: Cart) => total
function three({ total, ...rest }: Partial<Bill>) {}
let total2
;({ total: total2 } = new Bill())
const { total: unknown } = fetchIt()
== load.js
const { total } = require('./total')
";
    check(
        repository,
        "total",
        &[
            "use.ts:2 exact cart.ts#Cart.total",
            "use.ts:4 exact cart.ts#Cart.total",
            "use.ts:5 exact cart.ts#Bill.total",
            "use.ts:6 exact cart.ts#Cart.total",
            "use.ts:9 exact cart.ts#Cart.total",
            "use.ts:10 exact cart.ts#Bill.total",
            "use.ts:12 exact cart.ts#Bill.total",
            "use.ts:13 by name cart.ts#Base.total cart.ts#Cart.total cart.ts#Bill.total",
            "load.js:1 nothing",
        ],
    );
}

#[test]
fn literals_of_a_written_type_set_its_fields() {
    let repository = "\
== cart.ts
export interface Cart { total: number }
export interface Bill extends Cart { tax: number }
export interface Order { total: number }
== use.ts
import type { Bill, Cart, Order } from './cart'
const one: Cart = { total: 1 }
const two: Order = { total }
const three = { total: 1 } as Cart
const four = { total: 1 } satisfies Order
const five: Bill = { total: 1, tax: 2 }
const six: Order[] = [{ total: 1 }]
function seven(): Cart {
  return { total: 1 }
}
const eight = (): Order => ({ total: 1 })
const nine = { total: 1 }
class Shop {
  cart: Cart = { total: 1 }
}
const ten = { total: 1 } as const
";
    check(
        repository,
        "total",
        &[
            "use.ts:2 exact cart.ts#Cart.total",
            "use.ts:3 exact cart.ts#Order.total",
            "use.ts:3 nothing",
            "use.ts:4 exact cart.ts#Cart.total",
            "use.ts:5 exact cart.ts#Order.total",
            "use.ts:6 exact cart.ts#Cart.total",
            "use.ts:7 exact cart.ts#Order.total",
            "use.ts:9 exact cart.ts#Cart.total",
            "use.ts:11 exact cart.ts#Order.total",
            "use.ts:14 exact cart.ts#Cart.total",
        ],
    );
}

#[test]
fn a_cast_and_an_assignment_use_the_field_of_the_type() {
    let repository = "\
== cart.ts
export interface Cart { total: number; onPaid: () => void }
export interface Order { total: number; onPaid: () => void }
== use.ts
import type { Cart, Order } from './cart'
function one(x: unknown, order: Order) {
  (x as Cart).total
  const cart = x as Cart
  cart.total
  const same = order satisfies Order
  same.total
  order.onPaid = () => {}
  cart.onPaid = function () {}
}
";
    check(
        repository,
        "total",
        &[
            "use.ts:3 exact cart.ts#Cart.total",
            "use.ts:5 exact cart.ts#Cart.total",
            "use.ts:7 exact cart.ts#Order.total",
        ],
    );
    check(
        repository,
        "onPaid",
        &["use.ts:8 exact cart.ts#Order.onPaid", "use.ts:9 exact cart.ts#Cart.onPaid"],
    );
}
