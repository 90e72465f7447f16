'use strict';

import React, { useState } from 'react';
const path = require('path');

/** How many seats a row has. */
export const SEATS = 12;
let booked = new Map(), waiting = [];

/**
 * A row in the theatre.
 */
export class Row extends Base {
  #taken = 0;

  static of(letter) {
    return new Row(letter);
  }

  /** Takes the next free seat. */
  async take(count = 1) {
    this.#taken += count;
    await this.#save();
  }

  get free() { return SEATS - this.#taken; }

  #save() {}

  onClick = (event) => {
    this.take(event.detail);
  };

  static LIMIT = 40;
  static #rows = new Map();
  #log = () => {};
  static { Row.#rows.set('a', new Row('a')); }
}

export function book(row, { name, seats }) {
  function confirm() {
    return mail.send(name);
  }
  return row.take(seats).then(confirm);
}

export const cancel = async (row) => {
  await release(row);
};

function* numbers() { yield 1; }

const Usher = class extends Person {};

const api = {
  list: () => [...booked.keys()],
  find(name) { return booked.get(name); },
  get size() { return booked.size; },
  'cancel': async () => {},
  *each() {},
  limits: { rows: 12, names: ['a', 'b'] },
  seats: {
    block(seat) {},
    open: function () {},
    inner: { tooDeep() {}, alsoTooDeep: () => {} },
  },
};

export const store = createStore({
  state: () => ({ seats: [] }),
  mutations: { setSeats(state, seats) {} },
});
export const frozen = Object.freeze({ thaw() {} });

Row.prototype.clear = function () {
  booked.clear();
};

export default function Plan({ rows }) {
  const [open, setOpen] = useState(false);
  return <Stage open={open}>{rows.map((row) => <Seat.Row key={row} />)}</Stage>;
}
