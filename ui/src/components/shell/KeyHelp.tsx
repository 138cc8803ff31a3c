import { allShortcuts, SEND } from '@/lib/keys';
import { Dialog } from '../Dialog';

const NAMES: Record<string, string> = {
  Escape: 'Esc',
  [SEND]: 'Ctrl / ⌘ + Enter',
  ArrowLeft: '←',
  ArrowRight: '→',
};

/** What the keyboard can do on this page. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const seen = new Set<string>();
  const shown = allShortcuts().filter((one) => !seen.has(one.keys) && seen.add(one.keys));
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className="kv">
        {shown.map((one) => (
          <div key={one.keys} style={{ display: 'contents' }}>
            <dt>
              {one.keys.split(' ').map((key) => (
                <span key={key}>
                  <kbd className="kbd">{NAMES[key] ?? key}</kbd>{' '}
                </span>
              ))}
            </dt>
            <dd>{one.says}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
