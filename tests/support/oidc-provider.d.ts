/** The package has no types of its own. Only what the tests use. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  interface OidcClient {
    backchannelLogout(sub: string, sid: string | undefined): Promise<void>;
  }
  export class Provider {
    constructor(issuer: string, configuration: object);
    readonly Client: { find(id: string): Promise<OidcClient> };
    readonly Grant: new (
      of: object,
    ) => { addOIDCScope(scopes: string): void; save(): Promise<string> };
    callback(): RequestListener;
  }
}
