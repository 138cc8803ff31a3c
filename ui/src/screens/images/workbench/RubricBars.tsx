import { change } from '@/lib/format';
import { partOf, RUBRIC } from '../rubric';
import type { Rubric } from '../types';

/** The five numbers of a verdict, and what each adds to the score. */
export function RubricBars({ rubric }: { rubric: Rubric }) {
  return (
    <dl className="rubric">
      {RUBRIC.map(({ name, label, short, weight }) => (
        <div key={name} data-rubric={name}>
          <dt title={label}>{short}</dt>
          <dd>
            <span className="bar" aria-hidden="true">
              <span
                style={{ width: `${rubric[name] * 100}%` }}
                data-tone={weight < 0 ? 'against' : 'for'}
              />
            </span>
            <span className="num">{rubric[name].toFixed(2)}</span>
            <span
              className="num muted"
              title={`Weighs ${weight} in the score: ${change(partOf(rubric, name, weight), 4)}`}
            >
              {change(partOf(rubric, name, weight), 3)}
            </span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
