import { Change } from '@/components/Numbers';
import { percent } from '@/lib/format';
import { RUBRIC, type RubricNumber } from '../rubric';
import type { Comparison, Rubric } from '../types';

/** Both verdicts in columns, and what changed from left to right. */
export function RubricTable({ comparison }: { comparison: Comparison }) {
  const { left_rubric: left, right_rubric: right } = comparison;
  return (
    <div className="rubric-table">
      <table className="table">
        <caption className="sr-only">Rubric of both commits</caption>
        <thead>
          <tr>
            <th scope="col">{`By ${comparison.judge}`}</th>
            <th scope="col" className="num">
              Left
            </th>
            <th scope="col" className="num">
              Right
            </th>
            <th scope="col" className="num">
              Change
            </th>
          </tr>
        </thead>
        <tbody>
          <tr data-rubric="composite_score">
            <th scope="row">Score</th>
            <td className="num">
              <strong>{left.composite_score.toFixed(4)}</strong>
            </td>
            <td className="num">
              <strong>{right.composite_score.toFixed(4)}</strong>
            </td>
            <td className="num">
              <Change value={right.composite_score - left.composite_score} digits={4} />
            </td>
          </tr>
          {RUBRIC.map(({ name, label, weight }) => (
            <tr key={name} data-rubric={name}>
              <th scope="row">{label}</th>
              <Number rubric={left} name={name} />
              <Number rubric={right} name={name} />
              <td className="num">
                {[left, right].every((one) => !one.not_measured.includes(name)) && (
                  <Change
                    value={right[name] - left[name]}
                    digits={2}
                    welcome={weight < 0 ? 'down' : 'up'}
                  />
                )}
              </td>
            </tr>
          ))}
          <tr>
            <th scope="row">Confidence</th>
            <td className="num">{percent(left.confidence)}</td>
            <td className="num">{percent(right.confidence)}</td>
            <td />
          </tr>
        </tbody>
      </table>
      <p className="small muted compare-wish" data-part="wish">
        {comparison.wish === null
          ? 'Each was judged by its own prompt, by an earlier version: the scores do not compare.'
          : `Both are judged by “${comparison.wish.prompt}”.`}
        {Math.min(left.confidence, right.confidence) === 0 &&
          ' The judge is not sure of it at all: the change of the score says nothing.'}
      </p>
      <div className="compare-verdicts">
        <Verdict name="Left" rubric={left} />
        <Verdict name="Right" rubric={right} />
      </div>
    </div>
  );
}

function Number({ rubric, name }: { rubric: Rubric; name: RubricNumber }) {
  return rubric.not_measured.includes(name) ? (
    <td className="small muted not-measured">not measured</td>
  ) : (
    <td className="num">{rubric[name].toFixed(2)}</td>
  );
}

function Verdict({ name, rubric }: { name: string; rubric: Rubric }) {
  return (
    <div className="stack tight">
      <strong className="small">{name}</strong>
      <span className="small muted">{rubric.rationale || 'No reason was given.'}</span>
      <span className="row">
        {rubric.strength_tags.map((tag) => (
          <span key={`+${tag}`} className="badge good">
            <span aria-hidden="true">+</span> {tag}
          </span>
        ))}
        {rubric.failure_tags.map((tag) => (
          <span key={`-${tag}`} className="badge bad">
            <span aria-hidden="true">−</span> {tag}
          </span>
        ))}
      </span>
    </div>
  );
}
