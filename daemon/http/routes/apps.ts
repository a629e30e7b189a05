import type { FastifyInstance } from 'fastify';
import { routes } from '../../../src/contract/routes.ts';
import type { AppService } from '../../services/apps.ts';
import { sendDownload } from '../download.ts';
import { type FormTimes, formOperation } from '../form-operation.ts';
import { type OperationParts, operation, rawOperation } from '../operation.ts';

export interface AppParts extends OperationParts {
  readonly apps: AppService;
  readonly formTimes?: FormTimes;
}

export function appRoutes(app: FastifyInstance, parts: AppParts): void {
  const { apps } = parts;
  formOperation(app, parts, routes.uploadApp, {
    early: async (form, fileName) => void (await apps.judge(form, fileName)),
    stage: (content, maxBytes, expected) => apps.stage(content, maxBytes, expected),
    add: ({ context }, { form, ...file }) => apps.upload(context, form, file),
  });
  operation(app, parts, routes.listApps, ({ query }) => apps.list(query));
  operation(app, parts, routes.latestApp, ({ query }) => apps.latest(query));
  operation(app, parts, routes.showApp, ({ params }) => apps.show(params.versionId));
  rawOperation(app, parts, routes.downloadApp, async ({ params, request, reply }) =>
    sendDownload(request, reply, await apps.download(params.versionId)),
  );
}
