import { Card } from '@/components/Card';
import { Change } from '@/components/Numbers';
import { count, interval } from '@/lib/format';
import type { RunView } from './view';
import { sentence } from './words';

/** What the search learnt, by the optimizer's own word: sentences, and what blocks are worth. */
export function Learnt({ search }: { search: NonNullable<RunView['search']> }) {
  return (
    <Card title="What the search learnt">
      <div className="stack">
        {search.words.map((words) => (
          <p key={words} className="small">
            {sentence(words)}
          </p>
        ))}
        {search.blocks.length > 0 && (
          <div className="table-wrap" tabIndex={0} role="region" aria-label="What blocks are worth">
            <table className="table">
              <thead>
                <tr>
                  <th>Block</th>
                  <th>Section</th>
                  <th>In the winner</th>
                  <th className="num">Worth</th>
                  <th className="num">95% interval</th>
                  <th className="num">Items</th>
                </tr>
              </thead>
              <tbody>
                {search.blocks.map((one) => (
                  <tr key={`${one.section}\n${one.text}`}>
                    <td>{one.text}</td>
                    <td>
                      <code>{one.section}</code>
                    </td>
                    <td>{one.in_winner ? 'yes' : 'no'}</td>
                    <td className="num">
                      <Change value={one.worth} />
                    </td>
                    <td className="num nowrap">{interval(one.low, one.high)}</td>
                    <td className="num">{count(one.items)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </div>
    </Card>
  );
}
