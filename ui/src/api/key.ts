/** The server's key, if it wants one: for this tab only, in no cookie and no address. */
const NAME = 'burnish.key';
let memory: string | null = null;

export function storedKey(): string | null {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return memory;
  }
}

export function storeKey(key: string): void {
  memory = key;
  try {
    sessionStorage.setItem(NAME, key);
  } catch {
    // Without storage the key lasts until the page is loaded again.
  }
}

export function authorization(): Record<string, string> {
  const key = storedKey();
  return key ? { Authorization: `Bearer ${key}` } : {};
}
