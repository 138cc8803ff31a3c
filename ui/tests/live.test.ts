import { describe, expect, it, vi } from 'vitest';
import { EventParser } from '@/live/parser';
import { EventStream, type Mode } from '@/live/stream';

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

  it.each(['never answers', 'answers and says nothing'])(
    'polls while the server %s',
    async (how) => {
      vi.useFakeTimers();
      try {
        const modes: Mode[] = [];
        const silent = new Response(new ReadableStream());
        const stream = new EventStream({
          url: '/events',
          from: '3',
          onEvent: () => undefined,
          onReload: async () => '',
          onMode: (mode) => modes.push(mode),
          fetch: (_url, options) =>
            how === 'never answers'
              ? new Promise((_, reject) => {
                  options?.signal?.addEventListener('abort', () => reject(new Error('gone')));
                })
              : Promise.resolve(silent),
        });
        void stream.run();
        await vi.advanceTimersByTimeAsync(4_900);
        expect(modes).toEqual(['connecting']);
        await vi.advanceTimersByTimeAsync(200);
        expect(modes).toEqual(['connecting', 'polling']);
        expect(stream.reached).toBe('3');
        stream.stop();
      } finally {
        vi.useRealTimers();
      }
    },
  );
});
