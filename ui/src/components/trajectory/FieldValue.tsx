import { jsonText } from '@/lib/configurations';
import { picturesIn, pictureUrl } from '@/lib/pictures';
import { Picture } from '@/screens/images/picture/Picture';
import './trajectory.css';

/** A value of a row: pictures as pictures, everything else as text. */
export function FieldValue({ name, value }: { name: string; value: unknown }) {
  const pictures = picturesIn(value);
  if (pictures.length === 0) return <pre>{jsonText(value)}</pre>;
  return (
    <div className="field-pictures">
      {pictures.map((one, index) => (
        <figure key={index}>
          <Picture url={pictureUrl(one)} alt={`${name}: ${one.label}`} lazy />
          <figcaption className="muted small">{one.label}</figcaption>
        </figure>
      ))}
    </div>
  );
}
