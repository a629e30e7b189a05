/** The fields that have a value. A field that is `undefined` is not one that is absent, and the interface knows only the latter. */
export function given<T extends object>(fields: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
