/** A picture of a row, as the server says it: where it is, of which kind, and its hash. */
export interface PictureCell {
  picture: string;
  media_type: string;
  sha256: string;
  label: string;
}

const SAFE = /^image\/(png|jpeg|gif|webp)$/;
const DIGEST = /^[0-9a-f]{64}$/;
const KEYS = 3;

/** The pictures of a value, one or a list; none where it holds anything else. */
export function picturesIn(value: unknown): PictureCell[] {
  const listed: readonly unknown[] = Array.isArray(value) ? value : [value];
  const cells = listed.map(cellOf);
  return cells.every((one) => one !== null) ? cells : [];
}

function cellOf(value: unknown): PictureCell | null {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== KEYS)
    return null;
  const { picture, media_type, sha256 } = value as Record<string, unknown>;
  if (typeof picture !== 'string' || typeof media_type !== 'string' || typeof sha256 !== 'string')
    return null;
  if (!SAFE.test(media_type) || !DIGEST.test(sha256)) return null;
  const label = picture.startsWith('data:') ? 'picture' : picture;
  return { picture, media_type, sha256, label };
}

/** Where the page gets it from: the row itself, or the server by the picture's hash. */
export function pictureUrl(cell: PictureCell): string {
  if (cell.picture.startsWith('data:')) return cell.picture;
  return `/v1/private/pictures/${cell.sha256}`;
}

/** The bytes of a data URL, as a picture of a kind that is safe to show or as plain bytes. */
export function blobOf(url: string): Blob {
  const told = url.slice('data:'.length).split(/[;,]/, 1)[0] ?? '';
  const kind = SAFE.test(told) ? told : 'application/octet-stream';
  const text = atob(url.slice(url.indexOf(',') + 1));
  return new Blob([Uint8Array.from(text, (one) => one.charCodeAt(0))], { type: kind });
}
