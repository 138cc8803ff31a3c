import { ApiError, type Schemas } from '@/api/client';

export type NewLabel = Schemas['NewLabel'];
export interface Outgoing {
  set: string;
  label: NewLabel;
}

const KEPT = 'burnish.labels.unsent';
const AGAIN_MS = 2_000;
/** What will not be taken however often it is sent. */
const REFUSALS = new Set([400, 404, 409, 413, 422]);

/**
 * Labels on their way: sent at once, one after the other, and kept with the tab until the server has
 * them. A reload sends what is left; sent twice, a label is the same label.
 */
export class Outbox {
  refused: ApiError | null = null;
  readonly #send: (one: Outgoing) => Promise<unknown>;
  readonly #changed: () => void;
  readonly #storage: Pick<Storage, 'getItem' | 'setItem'> | null;
  #waiting: Outgoing[];
  #sending: Promise<void> | null = null;

  constructor(
    send: (one: Outgoing) => Promise<unknown>,
    changed: () => void,
    storage: Pick<Storage, 'getItem' | 'setItem'> | null,
  ) {
    this.#send = send;
    this.#changed = changed;
    this.#storage = storage;
    this.#waiting = read(storage);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  push(one: Outgoing): void {
    this.#waiting.push(one);
    this.#keep();
    void this.flush();
  }

  /** Ends once nothing waits. */
  flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
      if (this.#waiting.length > 0) void this.flush();
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    for (;;) {
      const next = this.#waiting[0];
      if (!next) return;
      try {
        await this.#send(next);
      } catch (error) {
        if (!(error instanceof ApiError) || !REFUSALS.has(error.status)) {
          await new Promise((later) => setTimeout(later, AGAIN_MS));
          continue;
        }
        this.refused = error;
      }
      this.#waiting.shift();
      this.#keep();
    }
  }

  #keep(): void {
    try {
      this.#storage?.setItem(KEPT, JSON.stringify(this.#waiting));
    } catch {
      // Without storage they wait as long as the page is open.
    }
    this.#changed();
  }
}

function read(storage: Pick<Storage, 'getItem'> | null): Outgoing[] {
  try {
    const kept: unknown = JSON.parse(storage?.getItem(KEPT) ?? '[]');
    return Array.isArray(kept) ? (kept as Outgoing[]) : [];
  } catch {
    return [];
  }
}
