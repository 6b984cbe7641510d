import chat from '../../../plugins/surfaces/chat.ts'
import { keepsContract } from './contract.ts'

keepsContract(chat)
