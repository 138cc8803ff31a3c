import type { Schemas } from '@/api/client';
import { Outbox, type Outgoing } from './outbox';

export type Task = Schemas['TaskView'];
export type Tasks = Schemas['LabelTasks'];
export type Value = Tasks['values'][number];
type Said = Pick<Task, 'state' | 'value' | 'comment'>;

export const WINDOW = 50;
const NOTHING: Said = { state: null, value: null, comment: '' };

export interface View {
  head: Tasks | null;
  error: Error | null;
  /** At `total` there is nothing more to label. */
  position: number;
  task: Task | null;
  labelled: number;
  skipped: number;
  unsent: number;
  refused: Error | null;
  undoable: number;
  /** While what is left is looked for. */
  seeking: boolean;
}

/** One person's way through the items of a set. What the person says shows at once, and is sent. */
export class Labelling {
  readonly #ask: (start: number | null) => Promise<Tasks>;
  readonly #outbox: Outbox;
  readonly #set: string;
  readonly #person: string;
  readonly #tasks = new Map<number, Task>();
  readonly #asked = new Set<number>();
  readonly #before: { position: number; said: Said }[] = [];
  readonly #listeners = new Set<() => void>();
  #head: Tasks | null = null;
  #error: Error | null = null;
  #position = 0;
  #labelled = 0;
  #skipped = 0;
  #seeking = false;
  #view: View;

  constructor(
    set: string,
    person: string,
    calls: {
      ask: (start: number | null) => Promise<Tasks>;
      send: (one: Outgoing) => Promise<unknown>;
    },
    storage: Pick<Storage, 'getItem' | 'setItem'> | null,
  ) {
    this.#set = set;
    this.#person = person;
    this.#ask = calls.ask;
    this.#outbox = new Outbox(calls.send, () => this.#tell(), storage);
    this.#view = this.#seen();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  view = (): View => this.#view;

  /** Goes on at the first item that is not labelled, once all that was said before is stored. */
  async open(): Promise<void> {
    try {
      await this.#outbox.flush();
      const head = await this.#ask(null);
      this.#head = head;
      this.#labelled = head.labelled;
      this.#skipped = head.skipped;
      this.#error = null;
      this.#seeking = false;
      head.tasks.forEach((task) => this.#tasks.set(task.position, task));
      this.go(head.next_open ?? head.total);
    } catch (error) {
      this.#fail(error);
    }
  }

  go(position: number): void {
    const total = this.#head?.total ?? 0;
    this.#position = Math.max(0, Math.min(position, total));
    this.#need(this.#position);
    // The next ones are there before anybody comes to them.
    this.#need(Math.min(this.#position + WINDOW / 2, total - 1));
    this.#tell();
  }

  next = (): void => this.go(this.#position + 1);
  back = (): void => this.go(this.#position - 1);

  give(value: Value): void {
    this.#say({ state: 'labelled', value });
  }

  skip = (): void => this.#say({ state: 'skipped', value: null });

  /** With its label; where there is none yet, by itself. */
  comment(text: string): void {
    const task = this.#tasks.get(this.#position);
    if (!task || task.comment === text.trim()) return;
    const next = { ...task, comment: text.trim() };
    this.#tasks.set(this.#position, next);
    this.#send(next);
  }

  /** Back to the item that was labelled last, as it was before. */
  undo = (): void => {
    const last = this.#before.pop();
    const task = last && this.#tasks.get(last.position);
    if (!last || !task) return;
    this.#put(last.position, task, { ...last.said, state: last.said.state ?? 'withdrawn' });
    this.go(last.position);
  };

  #say(said: Pick<Said, 'state' | 'value'>): void {
    const position = this.#position;
    const task = this.#tasks.get(position);
    if (!task) return;
    const { state, value, comment } = task;
    this.#before.push({ position, said: { state, value, comment } });
    this.#put(position, task, { ...said, comment });
    const total = this.#head?.total ?? 0;
    if (position + 1 < total && this.#labelled + this.#skipped < total) return this.next();
    // What was left out or skipped comes again, and only then it is the end.
    this.#seeking = true;
    this.go(total);
    void this.open();
  }

  #put(position: number, task: Task, said: Said): void {
    this.#labelled += Number(said.state === 'labelled') - Number(task.state === 'labelled');
    this.#skipped += Number(said.state === 'skipped') - Number(task.state === 'skipped');
    const next = { ...task, ...NOTHING, ...said };
    this.#tasks.set(position, next);
    this.#send(next);
  }

  #send(task: Task): void {
    const { item_id, value, comment } = task;
    const state = task.state ?? 'withdrawn';
    this.#outbox.push({
      set: this.#set,
      label: { item_id, person: this.#person, state, value, comment },
    });
  }

  #need(position: number): void {
    const start = position - (position % WINDOW);
    const known = this.#tasks.has(position) || this.#asked.has(start);
    if (position < 0 || position >= (this.#head?.total ?? 0) || known) return;
    this.#asked.add(start);
    this.#ask(start).then(
      (page) => {
        // What was said here meanwhile is newer than what was asked for.
        for (const task of page.tasks)
          if (!this.#tasks.has(task.position)) this.#tasks.set(task.position, task);
        this.#tell();
      },
      (error: unknown) => {
        this.#asked.delete(start);
        this.#fail(error);
      },
    );
  }

  #fail(error: unknown): void {
    this.#error = error instanceof Error ? error : new Error(String(error));
    this.#tell();
  }

  #tell(): void {
    this.#view = this.#seen();
    this.#listeners.forEach((listener) => listener());
  }

  #seen(): View {
    return {
      head: this.#head,
      error: this.#error,
      position: this.#position,
      task: this.#tasks.get(this.#position) ?? null,
      labelled: this.#labelled,
      skipped: this.#skipped,
      unsent: this.#outbox.waiting,
      refused: this.#outbox.refused,
      undoable: this.#before.length,
      seeking: this.#seeking,
    };
  }
}

const LETTERS: Record<string, string> = {
  pass: 'p',
  fail: 'f',
  left: 'ArrowLeft',
  right: 'ArrowRight',
  tie: 't',
};

/** The key of each value: letters and arrows where there are some, else digits; 0 is the tenth. */
export function keyOf(kind: Tasks['kind'], value: Value, index: number): string {
  if (kind === 'score') return String(Number(value) % 10);
  return kind === 'class' ? String((index + 1) % 10) : (LETTERS[value] ?? '');
}
