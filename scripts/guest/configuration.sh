# shellcheck shell=bash
# write_configurations DIR: three configurations beside DIR/kaccel-thresholds.cnf.
#   default.cnf    OpenSSL's default provider alone
#   hardware.cnf   kaccel, every call to hardware (the calibrated drivers with a threshold of 0)
#   dispatch.cnf   kaccel, by the calibrated thresholds
write_configurations() {
    local dir=$1
    cat >"$dir/default.cnf" <<-END
	openssl_conf = openssl_init
	[openssl_init]
	providers = provider_sect
	[provider_sect]
	default = default_sect
	[default_sect]
	activate = 1
	END
    kaccel_configuration "$dir" >"$dir/dispatch.cnf"
    { kaccel_configuration "$dir" && echo "force_threshold = 0"; } >"$dir/hardware.cnf"
}

# The kaccel section comes last, so that a caller can add to it.
kaccel_configuration() {
    cat <<-END
	openssl_conf = openssl_init
	.include $1/kaccel-thresholds.cnf
	[openssl_init]
	providers = provider_sect
	alg_section = algorithm_sect
	[algorithm_sect]
	default_properties = ?provider=kaccel
	[provider_sect]
	default = default_sect
	kaccel = kaccel_sect
	[default_sect]
	activate = 1
	[kaccel_sect]
	activate = 1
	thresholds = kaccel_thresholds
	END
}
