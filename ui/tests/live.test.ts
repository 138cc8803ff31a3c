import { describe, expect, it, vi } from 'vitest';
import { EventParser } from '@/live/parser';
import { ANSWER_MS, EventStream, type Mode } from '@/live/stream';

const text = new TextEncoder();

function streaming(...pieces: string[]): Response {
  return new Response(
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(text.encode(piece));
        controller.close();
      },
    }),
  );
}

describe('events in pieces', () => {
  it('come out whole, however they are cut', () => {
    const whole =
      'retry: 2000\n\n: alive\n\nid: 7\nevent: a\ndata: {"x":\ndata: 1}\n\nid: 8\ndata: y\n\n';
    for (let cut = 0; cut <= whole.length; cut++) {
      const parser = new EventParser();
      const events = [...parser.push(whole.slice(0, cut)), ...parser.push(whole.slice(cut))];
      expect(events).toEqual([
        { id: '7', event: 'a', data: '{"x":\n1}' },
        { id: '8', event: 'message', data: 'y' },
      ]);
    }
  });

  it('have lines that end in any of the three ways', () => {
    const parser = new EventParser();
    expect(parser.push('id: 1\r\ndata: a\r\n\r\nid: 2\rdata: b\r\rid: 3')).toHaveLength(2);
    expect(parser.push('\ndata: c\n\n')).toEqual([{ id: '3', event: 'message', data: 'c' }]);
  });
});

describe('a stream', () => {
  async function follow(answers: (() => Promise<Response>)[]) {
    const asked: (string | null)[] = [];
    const modes: Mode[] = [];
    const heard: string[] = [];
    const waits: number[] = [];
    let reloads = 0;
    const stream: EventStream = new EventStream({
      url: '/events',
      from: '3',
      onEvent: (event) => heard.push(event.data),
      onReload: async () => {
        reloads += 1;
        return '50';
      },
      onMode: (mode) => modes.push(mode),
      fetch: (_url, options) => {
        asked.push(new Headers(options?.headers).get('Last-Event-ID'));
        const next = answers.shift();
        if (next) return next();
        stream.stop();
        return Promise.reject(new Error('stopped'));
      },
      wait: async (milliseconds) => void waits.push(milliseconds),
    });
    await stream.run();
    return { asked, modes, heard, waits, reloads };
  }

  it('goes on after the last event that it saw', async () => {
    const { asked, heard } = await follow([
      async () => streaming('id: 4\ndata: a\n\n', 'id: 5\ndata: b\n\nid: 6\nda'),
      async () => streaming('id: 6\ndata: c\n\n'),
    ]);
    expect(asked).toEqual(['3', '5', '6']);
    expect(heard).toEqual(['a', 'b', 'c']);
  });

  it('says that it polls after two failures, tries on ever later, and is live again', async () => {
    const away = () => Promise.reject(new TypeError('away'));
    const { modes, waits } = await follow([away, away, away, async () => streaming('data: a\n\n')]);
    expect(modes.slice(0, 6)).toEqual([
      'connecting',
      'connecting',
      'polling',
      'polling',
      'live',
      'connecting',
    ]);
    expect(waits.slice(0, 3)).toEqual([1000, 2000, 4000]);
  });

  it('reads the snapshot again when it is told to', async () => {
    const { asked, reloads, heard } = await follow([
      async () => streaming('event: reload\ndata: {}\n\nid: 9\ndata: not any more\n\n'),
      async () => streaming('id: 51\ndata: a\n\n'),
    ]);
    expect(reloads).toBe(1);
    expect(asked).toEqual(['3', '50', '51']);
    expect(heard).toEqual(['a']);
  });

  it('leaves a stream that it may not have to polling', async () => {
    const { modes, asked } = await follow([async () => new Response('', { status: 401 })]);
    expect(modes).toEqual(['connecting', 'polling']);
    expect(asked).toHaveLength(1);
  });

  it('is left to polling when the request is never answered', async () => {
    // IMG-2: the page waited for ever.
    vi.useFakeTimers();
    const modes: Mode[] = [];
    const stream: EventStream = new EventStream({
      url: '/events',
      from: '0',
      onEvent: () => undefined,
      onReload: async () => '0',
      onMode: (mode) => modes.push(mode),
      fetch: (_url, options) =>
        new Promise((_, reject) =>
          options?.signal?.addEventListener('abort', () => reject(new Error('aborted'))),
        ),
      wait: async () => stream.stop(),
    });
    const running = stream.run();
    await vi.advanceTimersByTimeAsync(ANSWER_MS);
    await running;
    vi.useRealTimers();

    expect(modes).toEqual(['connecting', 'polling']);
  });

  it('is not live before it says anything, nor a failure forgotten', async () => {
    const { modes } = await follow([
      async () => streaming(),
      () => Promise.reject(new TypeError('away')),
      () => Promise.reject(new TypeError('away')),
    ]);
    expect(modes).not.toContain('live');
    expect(modes).toContain('polling');
  });

  it('is held only while the page can be seen', async () => {
    // IMG-3: six tabs with a run took every connection that a browser has.
    let hidden = true;
    const watchers = new Set<() => void>();
    const show = (next: boolean) => {
      hidden = next;
      for (const tell of [...watchers]) tell();
    };
    const modes: Mode[] = [];
    const signals: AbortSignal[] = [];
    const stream: EventStream = new EventStream({
      url: '/events',
      from: '0',
      onEvent: () => undefined,
      onReload: async () => '0',
      onMode: (mode) => modes.push(mode),
      fetch: (_url, options) => {
        const signal = options?.signal as AbortSignal;
        signals.push(signal);
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted'))),
        );
      },
      wait: async () => undefined,
      page: {
        hidden: () => hidden,
        watch: (changed) => {
          watchers.add(changed);
          return () => watchers.delete(changed);
        },
      },
    });
    const running = stream.run();
    await Promise.resolve();
    expect([signals.length, modes]).toEqual([0, ['connecting', 'polling']]);

    show(false);
    await vi.waitFor(() => expect(signals).toHaveLength(1));
    show(true);
    await vi.waitFor(() => expect(modes).toEqual(['connecting', 'polling', 'polling']));
    expect(signals[0]?.aborted).toBe(true);

    stream.stop();
    await running;
    expect([signals.length, watchers.size]).toEqual([1, 0]);
  });
});
