import mcp from '../../../plugins/surfaces/mcp.ts'
import { keepsContract } from './contract.ts'

keepsContract(mcp, ['GET /mcp', 'DELETE /mcp', 'GET /.well-known/oauth-protected-resource/mcp'])
