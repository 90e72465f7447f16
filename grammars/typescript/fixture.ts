import { Clock, type Zone as TimeZone } from './clock';

export const TICK_MS: number = 250;

/** What a timer tells its listeners. */
export interface Listener<T> extends Disposable {
  readonly name: string;
  onTick(value: T): void;
}

export type Callback = (count: number) => Promise<void>;

export enum State {
  Idle,
  Running = 'running',
}

/** Counts ticks. */
@injectable()
export abstract class Timer<T> extends Emitter<T> implements Listener<T> {
  private count = 0;

  constructor(private readonly clock: Clock) {
    super();
  }

  @logged
  start(zone?: TimeZone): this {
    this.clock.every(TICK_MS, () => this.tick());
    return this;
  }

  protected abstract tick(): void;

  stop = (): void => {
    clearTimer(this);
  };
}

export function wait(ms: number): Promise<void>;
export function wait(ms: string): Promise<void>;
export function wait(ms: any): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export namespace Zones {
  export const utc = new Zone('UTC');
  export const parse = (text: string): Zone => Zone.from(text);
}

declare module 'clock' {
  function now(): number;
}

declare global {
  interface Window { timer: Timer<number> }
}

export class Vault {
  #key: string = '';
  static readonly DOORS = 3;
  static #open = new Set<string>();
  #turn(): void {}
  lock = async (): Promise<void> => { this.#turn(); };
}

export const handlers = {
  Query: { vault: async () => Vault.DOORS },
  Mutation: { open() {}, close: function () {} } as const,
  plain: { a: 1 },
} satisfies Handlers;
