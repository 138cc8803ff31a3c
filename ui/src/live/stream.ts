import { ApiError } from '../api/client';
import { authorization } from '../api/key';
import { EventParser, type ServerEvent } from './parser';

/** How fresh a page is: by events, by asking again and again, or not at all any more. */
export type Mode = 'connecting' | 'live' | 'polling' | 'ended';

export interface StreamOptions {
  url: string;
  /** The place after which events are wanted; from a snapshot. */
  from: string;
  onEvent(event: ServerEvent): void;
  /** The snapshot has to be read again: events may have been missed. Answers the new place. */
  onReload(): Promise<string>;
  onMode(mode: Mode): void;
  fetch?: typeof fetch;
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  page?: Visibility;
}

/** Whether anybody can see the page; `watch` tells of changes until what it answers is called. */
export interface Visibility {
  hidden(): boolean;
  watch(changed: () => void): () => void;
}

const PAGE: Visibility = {
  hidden: () => typeof document !== 'undefined' && document.hidden,
  watch: (changed) => {
    if (typeof document === 'undefined') return () => undefined;
    document.addEventListener('visibilitychange', changed);
    return () => document.removeEventListener('visibilitychange', changed);
  },
};

/** Silence this long means that the connection is gone, though nobody said so. */
const SILENCE_MS = 45_000;
/** A server that streams says something at once: who hears nothing for so long, polls. */
export const ANSWER_MS = 8_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** After so many failures in a row the page says that it polls. */
const FAILURES_UNTIL_POLLING = 2;

/**
 * Follows a stream until it is stopped: with the key in a header, which EventSource cannot send.
 * While nobody sees the page it holds no connection, of which a browser has few, and polls.
 */
export class EventStream {
  private readonly stopper = new AbortController();
  private place: string;
  private failures = 0;

  private readonly page: Visibility;

  constructor(private readonly options: StreamOptions) {
    this.place = options.from;
    this.page = options.page ?? PAGE;
  }

  stop(): void {
    this.stopper.abort();
  }

  async run(): Promise<void> {
    const wait = this.options.wait ?? pause;
    this.options.onMode('connecting');
    while (!this.stopper.signal.aborted) {
      if (this.page.hidden()) {
        this.options.onMode('polling');
        await this.shown();
        continue;
      }
      try {
        await this.connect();
      } catch (error) {
        if (this.stopper.signal.aborted) return;
        if (this.page.hidden()) continue;
        if (error instanceof ApiError && [401, 403, 404].includes(error.status)) {
          this.options.onMode('polling');
          return;
        }
        this.failures += 1;
      }
      if (this.stopper.signal.aborted) return;
      this.options.onMode(this.failures >= FAILURES_UNTIL_POLLING ? 'polling' : 'connecting');
      await wait(
        Math.min(FIRST_WAIT_MS * 2 ** this.failures, LONGEST_WAIT_MS),
        this.stopper.signal,
      ).catch(() => undefined);
    }
  }

  private async connect(): Promise<void> {
    const over = new AbortController();
    const unwatch = this.page.watch(() => this.page.hidden() && over.abort());
    let timer = setTimeout(() => {
      // Not answered at all: that need not happen twice.
      this.failures = Math.max(this.failures, FAILURES_UNTIL_POLLING - 1);
      over.abort();
    }, ANSWER_MS);
    try {
      const response = await (this.options.fetch ?? fetch)(this.options.url, {
        headers: { Accept: 'text/event-stream', 'Last-Event-ID': this.place, ...authorization() },
        signal: AbortSignal.any([this.stopper.signal, over.signal]),
        cache: 'no-store',
      });
      if (!response.ok || !response.body)
        throw new ApiError(response.status, { message: 'no stream' });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new EventParser();
      for (let heard = false; ; heard = true) {
        const { done, value } = await reader.read();
        clearTimeout(timer);
        if (done) return;
        if (!heard) {
          this.failures = 0;
          this.options.onMode('live');
        }
        for (const event of parser.push(value)) if (await this.took(event)) return;
        timer = setTimeout(() => over.abort(), SILENCE_MS);
      }
    } finally {
      clearTimeout(timer);
      unwatch();
    }
  }

  /** Waits until somebody sees the page, or nobody wants the stream any more. */
  private shown(): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        if (this.page.hidden() && !this.stopper.signal.aborted) return;
        unwatch();
        resolve();
      };
      const unwatch = this.page.watch(settle);
      this.stopper.signal.addEventListener('abort', settle);
    });
  }

  /** Whether the stream has to be opened anew. */
  private async took(event: ServerEvent): Promise<boolean> {
    if (event.event === 'reload') {
      this.place = await this.options.onReload();
      return true;
    }
    if (event.id !== null) this.place = event.id;
    this.options.onEvent(event);
    return false;
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new Error('stopped'));
    });
  });
}
