import { describe, expect, it } from 'vitest';
import * as format from '@/lib/format';

describe('numbers', () => {
  it.each([
    [format.change(0.1823), '+0.182'],
    [format.change(-0.5), '−0.500'],
    [format.change(-0.0001), '0.000'],
    [format.change(0), '0.000'],
    [format.change(undefined), '–'],
    [format.money(0), '$0.00'],
    [format.money(0.004), '< $0.01'],
    [format.money(1234.5), '$1,234.50'],
    [format.money(null), '–'],
    [format.percent(0.1234, 1), '12.3%'],
    [format.interval(-0.042, 0.25), '−0.042 to 0.250'],
    [format.interval(null, 1), ''],
    [format.counted(1, 'item'), '1 item'],
    [format.counted(1200, 'item'), '1,200 items'],
    [format.counted(2, 'entry', 'entries'), '2 entries'],
    [format.tokens(1234), '1,234 tokens'],
    [format.tokens(2.5), '2.5 tokens'],
    [format.milliseconds(0.2), '< 1 ms'],
    [format.milliseconds(812), '812 ms'],
    [format.milliseconds(1500), '1.50 s'],
    [format.duration(0.5), '500 ms'],
    [format.duration(59.4), '59 s'],
    [format.duration(61), '1 min 1 s'],
    [format.duration(3_725), '1 h 2 min'],
  ])('%s is %s', (is, expected) => expect(is).toBe(expected));

  it('tell times relative to now', () => {
    const now = new Date('2026-11-16T12:00:00Z');
    const at = (text: string) => format.relativeTime(new Date(text), now);
    expect(at('2026-11-16T11:59:55Z')).toBe('just now');
    expect(at('2026-11-16T11:57:00Z')).toBe('3 minutes ago');
    expect(at('2026-11-15T11:00:00Z')).toBe('yesterday');
    expect(at('2026-11-16T14:00:00Z')).toBe('in 2 hours');
  });
});

describe('tokens', () => {
  it('say which share the provider had', () => {
    const usage = { input_tokens: 2000, output_tokens: 10, cached_tokens: 1280 };
    expect(format.tokensInAndOut(usage)).toBe('2,000 tokens in (64% cached), 10 out');
    expect(format.tokensInAndOut({ ...usage, cached_tokens: 0 })).toBe('2,000 tokens in, 10 out');
    expect(format.cachedShare({ ...usage, cached_share: 0.5 })).toBe(0.5);
    expect(format.cachedShare({ input_tokens: 0, output_tokens: 0 })).toBeNull();
  });
});
