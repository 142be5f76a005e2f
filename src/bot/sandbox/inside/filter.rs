//! The filter of system calls: what no bot needs and what has been a way out of sandboxes is refused. It is a list of what is
//! denied: runtimes that compile while they run change their calls too often for a list of what is allowed.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// Refused with "not permitted".
const DENIED: &[libc::c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    // Parts of the kernel with a history.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_lookup_dcookie,
    libc::SYS_vmsplice,
    libc::SYS_memfd_secret,
    // What System V shares is neither in a folder nor in a process, so no limit counts it.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_semget,
    libc::SYS_msgget,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_nfsservctl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_vhangup,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // The cores of its game are the referee's choice.
    libc::SYS_sched_setaffinity,
    // Pages in other processes' places.
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_mbind,
    libc::SYS_set_mempolicy,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS__sysctl,
];

/// The flags of `clone` that make namespaces.
const NAMESPACES: u64 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u64;

/// The last system call that was looked at when the list was made (Linux 6.18). One that is newer does not exist for a bot,
/// and neither do those of the ABI x32, whose numbers are far above.
const LAST: u32 = 470;

// The words of the kernel's filter language that are used here (linux/bpf_common.h, linux/seccomp.h).
const LOAD: u16 = 0x20;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
const ALLOW: u32 = 0x7fff_0000;
const FAIL: u32 = 0x0005_0000;

/// Puts the filter on; false where there is none for this kind of processor. `private_network` says whether the network is
/// the bot's own, so that sockets may be made for it.
pub(super) fn apply(private_network: bool) -> io::Result<bool> {
    let Some(arch) = arch() else { return Ok(false) };
    let program = denials(private_network)
        .and_then(|rules| {
            SeccompFilter::new(
                rules,
                SeccompAction::Allow,
                SeccompAction::Errno(libc::EPERM as u32),
                arch,
            )
        })
        .and_then(BpfProgram::try_from)
        .map_err(io::Error::other)?;
    seccompiler::apply_filter(&unknown_calls()).map_err(io::Error::other)?;
    // This one looks at the kind of processor first, and ends the bot if it is another (the 32-bit gate).
    seccompiler::apply_filter(&program).map_err(io::Error::other)?;
    Ok(true)
}

fn arch() -> Option<TargetArch> {
    std::env::consts::ARCH.try_into().ok()
}

/// "There is no such call", for `clone3`, whose flags a filter cannot see (libraries then use `clone`), and for all that is
/// not known.
fn unknown_calls() -> BpfProgram {
    let line = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        line(LOAD, 0, 0, 0),
        line(JUMP_IF_AT_LEAST, 2, 0, LAST + 1),
        line(JUMP_IF_EQUAL, 1, 0, libc::SYS_clone3 as u32),
        line(RETURN, 0, 0, ALLOW),
        line(RETURN, 0, 0, FAIL | libc::ENOSYS as u32),
    ]
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn denials(private_network: bool) -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = DENIED.iter().map(|&call| (call, Vec::new())).collect();
    let when = |argument, compare, value| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)
    };
    // Each flag alone: a condition on several bits would need all of them.
    let mut clone = Vec::new();
    for bit in 0..32 {
        let flag = 1 << bit;
        if NAMESPACES & flag != 0 {
            clone.push(SeccompRule::new(vec![when(
                0,
                SeccompCmpOp::MaskedEq(flag),
                flag,
            )?])?);
        }
    }
    rules.insert(libc::SYS_clone, clone);
    let mut families = vec![libc::AF_UNIX];
    if private_network {
        families.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
    }
    let other = families
        .into_iter()
        .map(|family| when(0, SeccompCmpOp::Ne, family as u64))
        .collect::<Result<Vec<_>, _>>()?;
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(other)?]);
    // Text put into a terminal's input.
    let terminal = [libc::TIOCSTI, libc::TIOCLINUX]
        .into_iter()
        .map(|request| SeccompRule::new(vec![when(1, SeccompCmpOp::Eq, request)?]))
        .collect::<Result<Vec<_>, _>>()?;
    rules.insert(libc::SYS_ioctl, terminal);
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_can_be_built() {
        for private_network in [false, true] {
            let rules = denials(private_network).expect("the rules are sound");
            let filter = SeccompFilter::new(
                rules,
                SeccompAction::Allow,
                SeccompAction::Errno(libc::EPERM as u32),
                arch().expect("tests run on a processor that is known"),
            )
            .expect("a filter");
            let program = BpfProgram::try_from(filter).expect("a program");
            assert!(program.len() > DENIED.len());
        }
        assert_eq!(unknown_calls().len(), 5);
    }
}
