/** Whether two values read from JSON say the same. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) {
    return true;
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return false;
  }
  if (Array.isArray(a) !== Array.isArray(b)) {
    return false;
  }
  const [these, those] = [Object.entries(a), b as Record<string, unknown>];
  return (
    these.length === Object.keys(b).length && these.every(([key, value]) => same(value, those[key]))
  );
}

/**
 * The newer of two values, with each part that did not change taken from the older one.
 *
 * A state that comes whole is new in every part; views tell by identity what has changed.
 */
export function keepSame<T extends object>(before: T | null, after: T): T {
  const old = before as Record<string, unknown> | null;
  return Object.fromEntries(
    Object.entries(after).map(([key, value]) => [
      key,
      old !== null && same(old[key], value) ? old[key] : (value as unknown)
    ])
  ) as T;
}
