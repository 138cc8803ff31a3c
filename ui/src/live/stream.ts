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
}

/** Silence this long means that the connection is gone, though nobody said so. */
const SILENCE_MS = 45_000;
/** Without a first word for so long, as behind a proxy that keeps it back, the page asks by itself. */
const ANSWER_MS = 5_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** After so many failures in a row the page says that it polls. */
const FAILURES_UNTIL_POLLING = 2;

/** Follows a stream until it is stopped: with the key in a header, which EventSource cannot send. */
export class EventStream {
  private readonly stopper = new AbortController();
  private place: string;
  private failures = 0;

  constructor(private readonly options: StreamOptions) {
    this.place = options.from;
  }

  stop(): void {
    this.stopper.abort();
  }

  /** Where whoever goes on after it has to begin. */
  get reached(): string {
    return this.place;
  }

  async run(): Promise<void> {
    const wait = this.options.wait ?? pause;
    this.options.onMode('connecting');
    while (!this.stopper.signal.aborted) {
      try {
        await this.connect();
      } catch (error) {
        if (this.stopper.signal.aborted) return;
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
    const silence = new AbortController();
    const signal = AbortSignal.any([this.stopper.signal, silence.signal]);
    const unanswered = setTimeout(() => this.options.onMode('polling'), ANSWER_MS);
    try {
      const gone = setTimeout(() => silence.abort(), SILENCE_MS);
      const response = await (this.options.fetch ?? fetch)(this.options.url, {
        headers: { Accept: 'text/event-stream', 'Last-Event-ID': this.place, ...authorization() },
        signal,
        cache: 'no-store',
      }).finally(() => clearTimeout(gone));
      if (!response.ok || !response.body)
        throw new ApiError(response.status, { message: 'no stream' });
      await this.listen(response.body, silence, () => clearTimeout(unanswered));
    } finally {
      clearTimeout(unanswered);
    }
  }

  private async listen(
    body: NonNullable<Response['body']>,
    silence: AbortController,
    answered: () => void,
  ): Promise<void> {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new EventParser();
    let heard = false;
    for (;;) {
      const timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      if (!heard) {
        heard = true;
        answered();
        this.failures = 0;
        this.options.onMode('live');
      }
      for (const event of parser.push(value)) if (await this.took(event)) return;
    }
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
