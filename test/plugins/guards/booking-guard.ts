import { plugin, use } from '../../../core/plugin.ts'
import { Guard } from '../../../core/ports/guard.ts'

/** A guard that changes nothing, and counts the calls that have a caller to book its work to, and calls without one. */
export const bookingGuard = () => {
  const booked = { paid: 0, free: 0 }
  const booking = plugin({
    port: Guard,
    name: 'booking',
    create: (): Guard => ({
      ...{ name: 'booking', marks: [] },
      begin({ pace }) {
        booked[pace == null ? 'free' : 'paid']++
        return {}
      },
    }),
  })
  return { guard: use(booking), booked }
}
