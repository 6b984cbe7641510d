import { plugin } from '../../core/plugin.ts'
import { Surface } from '../../core/ports/surface.ts'
import { chatRoutes } from './chat/chat.ts'
import { modelRoutes } from './chat/models.ts'
import { mediaRoutes } from './shared/media.ts'

const chapter = async () => {
  const [{ chat }, { media }] = await Promise.all([import('./chat/chapter.ts'), import('./chat/media-chapter.ts')])
  return [chat, media]
}

/** Standard chat, vectors, images and sound in the clear. */
export default plugin({
  port: Surface,
  name: 'chat',
  create: (): Surface => ({
    name: 'chat',
    routes: [...chatRoutes, ...modelRoutes, ...mediaRoutes],
    chapter,
  }),
})
