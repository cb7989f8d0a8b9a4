package lang

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// capabilities are those of Linux, which Kubernetes writes without CAP_: capabilities(7).
var capabilities = strings.Fields(`AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE
	CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN
	MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON SETFCAP SETGID SETPCAP SETUID
	SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE
	SYS_TIME SYS_TTY_CONFIG WAKE_ALARM`)

// powers are those of a container.
func (in *instance) powers(b *source.Block, e *evaluator) configs.Powers {
	p := configs.Powers{Unsettled: !e.settled(b, "user", schema.ReasonAttribute.Name), Root: e.given(b, "user") && e.settled(b, "user") && e.number(b, "user") == 0}
	if b.Type.Attribute("privileged") == nil {
		return p
	}
	p.Privileged, p.WritableRoot = e.bool(b, "privileged"), e.bool(b, "writable_root")
	p.Reason = e.string(b, schema.ReasonAttribute.Name)
	p.Seccomp, p.AppArmor, p.SELinux = e.string(b, "seccomp"), e.string(b, "apparmor"), e.string(b, "selinux")
	for i, name := range e.list(b, "capabilities") {
		switch bare := strings.TrimPrefix(strings.ToUpper(name), "CAP_"); {
		case slices.Contains(capabilities, name):
			p.Capabilities = append(p.Capabilities, name)
		case slices.Contains(capabilities, bare):
			e.unsuitable(b, "capabilities", "Element %d, %q, is written %q here.", i, name, bare)
		default:
			e.unsuitable(b, "capabilities", "%s", words.WithHint(words.DidYouMean(bare, capabilities), fmt.Sprintf("Element %d, %q, is no capability of Linux.", i, name)))
		}
	}
	return p
}

// checkPowers reports capabilities that a container cannot have, because it runs as another
// user than root: Kubernetes gives them to nobody else.
func (in *instance) checkPowers(b *source.Block, p configs.Powers, user int) {
	if user != 0 && len(p.Capabilities) > 0 {
		in.report.Error(b.AttributeRange("capabilities"), "Capabilities without effect", "%s runs as user %d, and only root gets capabilities. Write user = 0 as well, or take them away.", sentenced(b.Described()), user)
	}
}
